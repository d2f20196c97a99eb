import { type Dirent, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { errorMessage } from '../../../common/error-message.ts';
import { notify } from '../../../common/text/notify.ts';
import { writeAtomically } from '../../../common/write-atomically.ts';
import { OptionsError } from '../../../errors.ts';
import { withFigures } from '../../../record/figures.ts';
import { readRecords, type SkippedFile } from '../../../record/read-records.ts';
import { mergeRecords } from '../../../record/shards/merge-records.ts';
import { type Advice, advise } from '../../../report/advise/advise.ts';
import { type NamedRecord, type PastRun, pastRuns } from '../../../report/advise/past/past-runs.ts';
import { adviceData } from '../../../report/advise/timeline-section.ts';
import { timelineHtml } from '../../../report/timeline/timeline-page.ts';
import { printJson } from '../../print.ts';
import { type GoalFlags, goalOptions, goalsOf } from './goals.ts';
import { adviceLines } from './text.ts';

interface Options extends GoalFlags {
  output?: string;
  json?: boolean;
}

/** `poolwright report advise`: what past runs say of runs with other numbers of browsers and shards. */
export function addAdviseCommand(report: Command): void {
  const command = report
    .command('advise')
    .description(
      'Compute from past runs how many browsers and shards you need, pool or sessions, and what slows the suite down',
    )
    .argument('[files...]', 'run.json files or directories; pass all shards of a run');
  for (const option of goalOptions()) command.addOption(option);
  command
    .option('--output <directory>', "write the newest run's timeline.html there, with the advice")
    .option('--json', 'print JSON')
    .action(giveAdvice);
}

async function giveAdvice(given: string[], { output, json, ...flags }: Options): Promise<void> {
  const goals = goalsOf(flags);
  const found = findRecords(given);
  const { runs, skipped: unusable } = pastRuns(found.records);
  const skipped = [...found.skipped, ...unusable];
  for (const { file, why } of skipped) notify(`skipped ${file}: ${why}`);
  if (runs.length === 0) {
    throw new OptionsError(
      'file',
      'the files contain no complete run. A run writes its record to <outputDir>/poolwright/run.json.',
    );
  }
  const advice = advise(runs, goals);
  const timeline = output === undefined ? null : await writeTimeline(runs, advice, output);
  if (json) printJson({ advice, skipped, ...(timeline === null ? {} : { timeline }) });
  else {
    const lines = [...adviceLines(advice, goals), ...(timeline === null ? [] : [`timeline  ${timeline}`])];
    process.stdout.write(`${lines.join('\n')}\n`);
  }
  if (advice.recommended?.fits !== true) process.exitCode = 1;
}

async function writeTimeline(runs: readonly PastRun[], advice: Advice, directory: string): Promise<string> {
  const file = join(directory, 'timeline.html');
  const [only, ...others] = runs.at(-1)?.parts ?? [];
  try {
    const record = only && others.length === 0 ? only : mergeRecords(runs.at(-1)?.parts ?? []);
    await writeAtomically(file, timelineHtml(withFigures(record), null, { advice: adviceData(advice) }));
  } catch (error) {
    throw new OptionsError('--output', `${file} cannot be written: ${errorMessage(error)}`);
  }
  return file;
}

/** Default paths of a run's record, and of the output of `report merge`. */
const USUAL = ['test-results/poolwright/run.json', 'poolwright-report/run.json'];
/** Directories in a directory that are looked into. */
const DEEPEST = 8;

/**
 * Returns the records in these files and directories, and the invalid files with the reason.
 * @param given empty: where a run leaves its record
 * @throws OptionsError when there is nothing to read
 */
function findRecords(given: readonly string[]): { records: NamedRecord[]; skipped: SkippedFile[] } {
  const usual = USUAL.filter((file) => existsSync(file)).slice(0, 1);
  if (given.length === 0 && usual.length === 0) {
    throw new OptionsError(
      'files',
      `there is no ${USUAL.join(' and no ')} here: name run.json files, or directories with some`,
    );
  }
  const records: NamedRecord[] = [];
  const skipped: SkippedFile[] = [];
  for (const path of given.length > 0 ? given : usual) {
    const files = isDirectory(path) ? runFilesIn(path, 0) : [path];
    if (files.length === 0) skipped.push({ file: path, why: 'there is no run.json in this directory' });
    for (const file of new Set(files)) {
      const read = readRecords([file]);
      for (const record of read.records) records.push({ file, record });
      for (const each of read.skipped) skipped.push(each);
    }
  }
  return { records, skipped };
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Files whose name ends in `run.json`, because users collect them under names such as `2026-03-01-run.json`. */
function runFilesIn(directory: string, depth: number): string[] {
  return entriesOf(directory).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isFile()) return entry.name.endsWith('run.json') ? [path] : [];
    const isSeen = entry.isDirectory() && entry.name !== 'node_modules' && depth < DEEPEST;
    return isSeen ? runFilesIn(path, depth + 1) : [];
  });
}

/** What may not be read is not there. */
function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).sort((a, b) => a.name.localeCompare(b.name));
  } catch {
    return [];
  }
}
