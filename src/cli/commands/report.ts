import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { notify } from '../../common/text/notify.ts';
import { OptionsError } from '../../errors.ts';
import { readRecords } from '../../record/read-records.ts';
import { mergeRecords } from '../../record/shards/merge-records.ts';
import { missingAmong } from '../../record/shards/shard-sets.ts';
import { addressOf } from '../../reporter/html-report.ts';
import { writeRun } from '../../reporter/publish.ts';
import { reportToGitHub } from '../../reporter/summary/github.ts';
import { Sheet } from '../../reporter/summary/layout.ts';
import { summaryLines } from '../../reporter/summary/summary.ts';
import { printJson } from '../print.ts';
import { addAdviseCommand } from './report-advise.ts';

interface Options {
  output: string;
  html?: string;
  strict?: boolean;
  json?: boolean;
}

/** `poolwright report`: what runs have left on record. */
export function addReportCommand(program: Command): void {
  const report = program.command('report').description('Work with the records of runs');
  addAdviseCommand(report);
  report
    .command('merge')
    .description('One summary, one run.json and one timeline of several runs, such as the shards of one')
    .argument('<files...>', 'run.json of each; one that cannot be used is named, and the others are merged')
    .option('--output <folder>', 'where run.json and timeline.html go', 'poolwright-report')
    .option('--html <folder>', "Playwright's HTML report of the same runs, for the timeline's links")
    .option(
      '--strict',
      'exit with 1 when a file cannot be used, or a shard is missing; what there is is merged all the same',
    )
    .option('--json', 'print JSON')
    .action(merge);
}

async function merge(given: string[], { output, html, strict, json }: Options): Promise<void> {
  const { records, skipped } = readRecords(given);
  for (const { file, why } of skipped) notify(`skipped ${file}: ${why}`);
  if (records.length === 0) {
    if (json) printJson({ merged: 0, skipped });
    notify('none of the files could be used. A run writes its own to <outputDir>/poolwright/run.json.');
    process.exitCode = 1;
    return;
  }
  const htmlReport = html === undefined ? null : addressOf(resolve(output), resolve(html, 'index.html'));
  const missing = missingAmong(records);
  const run = await writeRun(mergeRecords(records), { folder: output, htmlReport });
  const { figures, files, failure } = run;
  if (failure !== null) {
    throw new OptionsError('--output', `${join(output, 'run.json')} cannot be written: ${failure}`);
  }
  for (const line of reportToGitHub(run, [], process.env)) process.stderr.write(`${line}\n`);
  for (const each of missing) notify(`missing: ${each}`);
  if (strict && (missing.length > 0 || skipped.length > 0)) process.exitCode = 1;
  if (json) printJson({ merged: records.length, skipped, missing, ...files, figures });
  else
    process.stdout.write(`${summaryLines(run, { files, sheet: Sheet.of(process.stdout, process.env) }).join('\n')}\n`);
}
