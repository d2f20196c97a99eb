import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Consumer, makeConsumer } from '../test/support/e2e/consumer.ts';
import { interleave } from './measuring/interleave.ts';
import type { Figures } from './measuring/samples.ts';
import { median, spreadOf } from './measuring/statistics.ts';
import { decimals } from './report/table.ts';
import { atMost, type Suite, type SuiteOrder, type SuiteResult } from './suite.ts';

/** What is imported in a process that has `@playwright/test` already, and in which kind of script. */
const SIDES = {
  'esm-nothing': { title: 'an empty module, ESM', file: 'nothing.mjs' },
  'esm-poolwright': { title: "import 'poolwright', ESM", file: 'poolwright.mjs' },
  'cjs-nothing': { title: 'an empty module, CommonJS', file: 'nothing.cjs' },
  'cjs-poolwright': { title: "require('poolwright')", file: 'poolwright.cjs' },
};
type Side = keyof typeof SIDES;
const NAMES = Object.keys(SIDES) as Side[];

/** Memory is measured after a full garbage collection. */
const measureAround = (load: string) => `
function resident() {
  gc();
  gc();
  return process.memoryUsage().rss;
}
const before = resident();
const start = performance.now();
${load};
const ms = performance.now() - start;
console.log(JSON.stringify({ ms, megabytes: (resident() - before) / 1e6 }));
`;
const esm = (name: string) => `import '@playwright/test';\n${measureAround(`await import('${name}')`)}`;
const cjs = (name: string) => `require('@playwright/test');\n${measureAround(`require('${name}')`)}`;
const FILES = {
  'empty.mjs': '',
  'empty.cjs': '',
  'nothing.mjs': esm('./empty.mjs'),
  'poolwright.mjs': esm('poolwright'),
  'nothing.cjs': cjs('./empty.cjs'),
  'poolwright.cjs': cjs('poolwright'),
};

/** What poolwright costs a worker before it does anything. */
export const importsSuite: Suite = {
  name: 'imports',
  title: 'Imports',
  about:
    'The cost of importing poolwright into a process that has already loaded `@playwright/test`, as every worker does.',
  rounds: 30,
  run,
};

async function run(order: SuiteOrder): Promise<SuiteResult> {
  const consumer = await makeConsumer('latest');
  try {
    await consumer.write(FILES);
    const samples = await interleave(NAMES, order, (side) => measure(consumer, side as Side));
    const of = (side: Side, figure: string) => samples.values(side, figure);
    const rows = NAMES.map((side) => {
      const ms = spreadOf(of(side, 'ms'));
      const quartiles = `${decimals(ms.lower, 1)}–${decimals(ms.upper, 1)}`;
      return [SIDES[side].title, decimals(ms.median, 1), quartiles, decimals(median(of(side, 'megabytes')), 1)];
    });
    const goals = (['esm-poolwright', 'cjs-poolwright'] as const).flatMap((side) => [
      atMost(SIDES[side].title, median(of(side, 'ms')), 20, ' ms', 1),
      atMost(SIDES[side].title, median(of(side, 'megabytes')), 5, ' MB', 1),
    ]);
    return { samples, tables: [{ head: ['import', 'ms', 'quartiles', 'MB'], rows }], goals };
  } finally {
    await consumer.remove();
  }
}

async function measure(consumer: Consumer, side: Side): Promise<Figures> {
  const { NODE_OPTIONS: _none, ...env } = process.env;
  const args = ['--expose-gc', SIDES[side].file];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: consumer.directory, env });
  return JSON.parse(stdout);
}
