import { relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { notify, print } from '../../common/text/notify.ts';
import { OptionsError } from '../../errors.ts';
import { readRecords } from '../../record/read-records.ts';
import { mergeRecords } from '../../record/shards/merge-records.ts';
import { missingAmong } from '../../record/shards/shard-sets.ts';
import type { MergeFeature } from '../../report/feature.ts';
import { addressOf } from '../../report/html-report.ts';
import * as FEATURES from '../../report/merge-features.ts';
import { writeRun } from '../../report/publish.ts';
import { reportToGitHub } from '../../report/summary/github.ts';
import { Sheet } from '../../report/summary/layout.ts';
import { summaryLines } from '../../report/summary/summary.ts';
import { printJson, printRows } from '../print.ts';

interface Options {
  output: string;
  html?: string;
  strict?: boolean;
  json?: boolean;
}

const features = Object.values<MergeFeature>(FEATURES);

/** `poolwright report`: what runs have left on record. */
export function addReportCommand(program: Command): void {
  const report = program.command('report').description('Work with the records of runs');
  report
    .command('merge')
    .description('Merge several runs, such as shards, into one summary, run.json and timeline')
    .argument('<files...>', 'their run.json files; invalid ones are named and skipped')
    .option('--output <directory>', 'directory for run.json and timeline.html', 'poolwright-report')
    .option('--html <directory>', "Playwright's HTML report of the same runs, for the timeline's links")
    .option(
      '--strict',
      'exit with 1 if a file is invalid, a shard is missing, or a test ran twice or never, after merging',
    )
    .option('--json', 'print JSON')
    .action(merge);
  for (const { name, description, ...table } of features.flatMap(({ tables }) => tables)) {
    report
      .command(name)
      .description(description)
      .argument('[files...]', 'run.json files of one run; default: the last merged one', ['poolwright-report/run.json'])
      .option('--json', 'print JSON')
      .action((given: string[], { json }: { json?: boolean }) => {
        const rows = table.rows(mergeRecords(recordsOf(given).records));
        if (rows.length === 0 && !json) notify(table.why);
        else printRows(rows, [...table.columns], json);
      });
  }
}

/** @throws OptionsError if no file is valid */
function recordsOf(given: string[]) {
  const read = readRecords(given);
  for (const { file, why } of read.skipped) notify(`skipped ${file}: ${why}`);
  if (read.records.length > 0) return read;
  throw new OptionsError(
    'file',
    `no valid file among ${given.join(', ')}. A run writes its record to <outputDir>/poolwright/run.json.`,
  );
}

async function merge(given: string[], { output, html, strict, json }: Options): Promise<void> {
  const { records, files: read, skipped } = recordsOf(given);
  const htmlReport = html === undefined ? null : addressOf(resolve(output), resolve(html, 'index.html'));
  const missing = missingAmong(records);
  const problems = features.flatMap((feature) => feature.problems(records));
  const others = features.flatMap((feature) => feature.figures(records));
  const run = await writeRun(mergeRecords(records), { directory: output, htmlReport, figures: others });
  const { figures, files, failure } = run;
  if (failure !== null) {
    throw new OptionsError('--output', failure);
  }
  for (const feature of features) {
    const written = await feature.write({ records, files: read, directory: output });
    files.others = [...(files.others ?? []), ...written.map((file) => relative('', file))];
  }
  for (const line of reportToGitHub(run, [], process.env)) void print(line);
  for (const each of missing) notify(`missing: ${each}`);
  for (const each of problems) notify(each);
  if (strict && missing.length + skipped.length + problems.length > 0) process.exitCode = 1;
  if (json) printJson({ merged: records.length, skipped, missing, problems, ...files, figures });
  else {
    const sheet = Sheet.of(process.stdout, process.env);
    process.stdout.write(`${summaryLines(run, { files, sheet }).join('\n')}\n`);
  }
}
