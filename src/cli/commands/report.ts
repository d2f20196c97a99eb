import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { OptionsError } from '../../errors.ts';
import { mergeRecords } from '../../record/merge-records.ts';
import { readRecords } from '../../record/read-records.ts';
import { addressOf } from '../../reporter/html-report.ts';
import { writeRun } from '../../reporter/publish.ts';
import { reportToGitHub } from '../../reporter/summary/github.ts';
import { summaryLines } from '../../reporter/summary/summary.ts';
import { printJson } from '../print.ts';
import { addAdviseCommand } from './report-advise.ts';

interface Options {
  output: string;
  html?: string;
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
    .option('--json', 'print JSON')
    .action(merge);
}

async function merge(given: string[], { output, html, json }: Options): Promise<void> {
  const { records, skipped } = readRecords(given);
  for (const { file, why } of skipped) process.stderr.write(`poolwright: skipped ${file}: ${why}\n`);
  if (records.length === 0) {
    if (json) printJson({ merged: 0, skipped });
    process.stderr.write(
      'poolwright: none of the files could be used. A run writes its own to <outputDir>/poolwright/run.json.\n',
    );
    process.exitCode = 1;
    return;
  }
  const htmlReport = html === undefined ? null : addressOf(resolve(output), resolve(html, 'index.html'));
  const run = await writeRun(mergeRecords(records), { folder: output, htmlReport });
  const { figures, files, failure } = run;
  if (failure !== null) {
    throw new OptionsError('--output', `${join(output, 'run.json')} cannot be written: ${failure}`);
  }
  for (const line of reportToGitHub(run, [], process.env)) process.stderr.write(`${line}\n`);
  if (json) printJson({ merged: records.length, skipped, ...files, figures });
  else process.stdout.write(`${summaryLines(run, { files, stream: process.stdout }).join('\n')}\n`);
}
