import { join } from 'node:path';
import type { Command } from 'commander';
import { type Advice, advise } from '../../advise/advise.ts';
import { type PastRun, pastRuns } from '../../advise/past/past-runs.ts';
import { errorMessage } from '../../common/error-message.ts';
import { notify } from '../../common/text/notify.ts';
import { writeWhole } from '../../common/write-whole.ts';
import { OptionsError } from '../../errors.ts';
import { withFigures } from '../../record/figures.ts';
import { mergeRecords } from '../../record/shards/merge-records.ts';
import { timelineHtml } from '../../reporter/timeline/timeline-page.ts';
import { findRecords } from '../advise/find-records.ts';
import { adviceLines } from '../advise/text.ts';
import { type WishFlags, wishesOf, wishOptions } from '../advise/wishes.ts';
import { printJson } from '../print.ts';

interface Options extends WishFlags {
  output?: string;
  json?: boolean;
}

/** `poolwright report advise`: what past runs say of runs with other numbers of browsers and shards. */
export function addAdviseCommand(report: Command): void {
  const command = report
    .command('advise')
    .description(
      'How many browsers and shards, pool or sessions, and what holds the suite up, from the run.json of past runs',
    )
    .argument('[files...]', 'run.json files, or folders with some; those of one run in shards all together');
  for (const option of wishOptions()) command.addOption(option);
  command
    .option('--output <folder>', 'writes timeline.html of the newest run there, with the advice')
    .option('--json', 'print JSON')
    .action(giveAdvice);
}

async function giveAdvice(given: string[], { output, json, ...flags }: Options): Promise<void> {
  const wishes = wishesOf(flags);
  const found = findRecords(given);
  const { runs, skipped: unusable } = pastRuns(found.records);
  const skipped = [...found.skipped, ...unusable];
  for (const { file, why } of skipped) notify(`skipped ${file}: ${why}`);
  if (runs.length === 0) {
    if (json) printJson({ advice: null, skipped });
    notify('no whole run is among the files. A run writes its own to <outputDir>/poolwright/run.json.');
    process.exitCode = 1;
    return;
  }
  const advice = advise(runs, wishes);
  const timeline = output === undefined ? null : await writeTimeline(runs, advice, output);
  if (json) printJson({ advice, skipped, ...(timeline === null ? {} : { timeline }) });
  else {
    const lines = [...adviceLines(advice, wishes), ...(timeline === null ? [] : [`timeline  ${timeline}`])];
    process.stdout.write(`${lines.join('\n')}\n`);
  }
  if (advice.recommended?.fits !== true) process.exitCode = 1;
}

async function writeTimeline(runs: readonly PastRun[], advice: Advice, folder: string): Promise<string> {
  const file = join(folder, 'timeline.html');
  const [only, ...others] = runs.at(-1)?.parts ?? [];
  try {
    const record = only && others.length === 0 ? only : mergeRecords(runs.at(-1)?.parts ?? []);
    await writeWhole(file, timelineHtml(withFigures(record), null, advice));
  } catch (error) {
    throw new OptionsError('--output', `${file} cannot be written: ${errorMessage(error)}`);
  }
  return file;
}
