import { join } from 'node:path';
import type { Command } from 'commander';
import { errorMessage } from '../../common/error-message.ts';
import { notify } from '../../common/text/notify.ts';
import { writeAtomically } from '../../common/write-atomically.ts';
import { OptionsError } from '../../errors.ts';
import { withFigures } from '../../record/figures.ts';
import { mergeRecords } from '../../record/shards/merge-records.ts';
import { type Advice, advise } from '../../report/advice/advise.ts';
import { type PastRun, pastRuns } from '../../report/advice/past/past-runs.ts';
import { timelineHtml } from '../../report/timeline/timeline-page.ts';
import { printJson } from '../print.ts';
import { type GoalFlags, goalOptions, goalsOf } from '../report/advice-goals.ts';
import { findRecords } from '../report/find-records.ts';
import { adviceLines } from '../report/text.ts';

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
    if (json) printJson({ advice: null, skipped });
    notify('the files contain no complete run. A run writes its record to <outputDir>/poolwright/run.json.');
    process.exitCode = 1;
    return;
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
    await writeAtomically(file, timelineHtml(withFigures(record), null, advice));
  } catch (error) {
    throw new OptionsError('--output', `${file} cannot be written: ${errorMessage(error)}`);
  }
  return file;
}
