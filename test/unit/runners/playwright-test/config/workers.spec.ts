import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import fc from 'fast-check';
import { limitsFile, rememberLimits } from '../../../../../src/broker/ledger/known-limits.ts';
import {
  type BrowserSource,
  chooseWorkers,
  suitableWorkers,
  type WorkersQuestion,
} from '../../../../../src/runners/playwright-test/config/workers.ts';
import { propertyRuns } from '../../../../support/property-runs.ts';

const LARGE = { cores: 64, memory: 256e9 };
const plan = (browsers: number | null): BrowserSource => ({ browsers, what: `the plan allows ${browsers}` });
const pool = (browsers: number | null): BrowserSource => ({
  browsers,
  what: `pool p has ${browsers}`,
  ...(browsers === null && { pool: 'p' }),
});

base.describe('the number of workers', () => {
  const sizes = fc.integer({ min: 1, max: 500 });
  const machines = fc.record({
    cores: fc.integer({ min: 1, max: 128 }),
    memory: fc.integer({ min: 256e6, max: 512e9 }),
  });
  const questions = fc.record({
    sources: fc.array(sizes.map(plan), { minLength: 1, maxLength: 4 }),
    shards: fc.integer({ min: 1, max: 40 }),
    machine: machines,
  });
  const ownOf = (cores: number) => Math.max(1, Math.floor(cores / 2));

  base('times the shards is at most what every source has, unless each shard has its one worker', () => {
    fc.assert(
      fc.property(questions, ({ sources, shards, machine }) => {
        const { workers } = suitableWorkers({ sources, shards, machine, usual: ownOf(machine.cores) });
        const fewest = Math.min(...sources.map(({ browsers }) => browsers ?? 0));
        return workers !== null && workers >= 1 && (workers === 1 || workers * shards <= fewest);
      }),
      propertyRuns(300),
    );
  });

  base('grows with the plan and with the memory, and never falls below Playwright’s own for want of memory', () => {
    fc.assert(
      fc.property(questions, sizes, ({ sources, shards, machine }, more) => {
        const usual = ownOf(machine.cores);
        const { workers } = suitableWorkers({ sources, shards, machine, usual });
        const larger = sources.map(({ browsers }) => plan((browsers ?? 0) + more));
        const withMore = suitableWorkers({ sources: larger, shards, machine, usual });
        const roomy = suitableWorkers({ sources, shards, usual, machine: { ...machine, memory: 1e12 } });
        const free = suitableWorkers({ sources, shards, usual: 1000, machine });
        const counts = [workers, withMore.workers, roomy.workers, free.workers].map((each) => each ?? 0);
        const [first = 0] = counts;
        return counts.every((each) => each >= first) && first >= Math.min(usual, counts[3] ?? 0);
      }),
      propertyRuns(300),
    );
  });

  base('is Playwright’s own while one source is unknown', () => {
    const choice = suitableWorkers({ sources: [plan(10), pool(null)], shards: 1, usual: 3, machine: LARGE });
    expect(choice).toEqual({
      workers: null,
      why: "3 workers, Playwright's own number: pool p has null is not known here yet. `POOLWRIGHT_POOL=p npx poolwright doctor` remembers it, or set `workers`",
    });
  });

  base('is explained by what limits it', () => {
    const whyOf = (sources: BrowserSource[], shards = 1, machine = LARGE) =>
      suitableWorkers({ sources, shards, usual: 1, machine }).why;
    expect(whyOf([plan(10)])).toBe('10 workers: the plan allows 10');
    expect(whyOf([plan(10), pool(4)], 4)).toBe('1 worker: pool p has 4, for 4 shards');
    expect(whyOf([plan(10)], 1, { cores: 2, memory: 2.2e9 })).toBe(
      '6 workers, the most for this machine (2 cores, 2 GB): the plan allows 10',
    );
  });
});

interface Fixtures {
  ask(question: Partial<WorkersQuestion>): ReturnType<typeof chooseWorkers>;
}

const VARIABLES = ['POOLWRIGHT_POOL', 'POOLWRIGHT_SERVICE', 'POOLWRIGHT_WORKERS', 'POOLWRIGHT_API_KEY', 'CI'];
const SERVICE = { baseURL: 'https://browsers.example.com', apiKey: 'key' };

/** Each test has its own environment, and runs in a project whose runs know a plan of 6 and a pool of 2. */
const test = base.extend<Fixtures>({
  ask: async ({}, use) => {
    const before = VARIABLES.map((name) => [name, process.env[name]] as const);
    const directory = process.cwd();
    for (const name of VARIABLES) delete process.env[name];
    const project = mkdtempSync(join(tmpdir(), 'workers-test-'));
    mkdirSync(join(project, 'node_modules'));
    writeFileSync(join(project, 'package.json'), '{}');
    process.chdir(project);
    await rememberLimits(limitsFile(project, { kind: 'hosted', ...SERVICE }), {
      concurrentBrowsers: 6,
      pools: new Map([['small', 2]]),
    });
    const hosted = [{ options: {} }];
    await use((question) =>
      chooseWorkers({
        configured: undefined,
        options: SERVICE,
        hosted,
        hasLocal: false,
        shard: null,
        args: ['node', 'playwright', 'test'],
        ...question,
      }),
    );
    process.chdir(directory);
    rmSync(project, { recursive: true, force: true });
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  },
});

test('the choice is left to a flag, and to the config unless an option or a variable overrides it', ({ ask }) => {
  for (const flag of ['--workers=3', '--workers', '-j', '-j4', '-xj4']) {
    expect(ask({ args: ['node', 'playwright', 'test', flag] }), flag).toBeNull();
  }
  for (const configured of [3, '50%', 1]) expect(ask({ configured })).toBeNull();
  expect(ask({ configured: 1, options: { ...SERVICE, workers: 'auto' } })?.workers).toBe(6);
  expect(ask({ configured: 1, options: { ...SERVICE, workers: 9 } })).toEqual({ workers: 9, why: null });
  process.env.POOLWRIGHT_WORKERS = '7';
  expect(ask({ configured: 1 })).toEqual({ workers: 7, why: null });
  expect(ask({ options: { ...SERVICE, workers: 9 } })?.workers).toBe(9);
  process.env.POOLWRIGHT_WORKERS = 'auto';
  expect(ask({ configured: 1 })?.workers).toBe(6);
  for (const wrong of ['0', '-1', '1.5', '50%', 'all', ' 3']) {
    process.env.POOLWRIGHT_WORKERS = wrong;
    expect(() => ask({}), wrong).toThrow(`POOLWRIGHT_WORKERS must be a number or auto, got "${wrong}"`);
  }
});

test('the shards are those of the flag or the config', ({ ask }) => {
  const args = ['node', 'playwright', 'test'];
  expect(ask({ shard: { total: 2 } })?.why).toBe('3 workers: the plan allows 6 browsers at once, for 2 shards');
  expect(ask({ args: [...args, '--shard=2/3'] })?.workers).toBe(2);
  expect(ask({ args: [...args, '--shard', '1/6'] })?.workers).toBe(1);
  expect(ask({ args: [...args, '--shard'] })?.workers).toBe(6);
});

test('pools bound it, whether the option or the variable names them', ({ ask }) => {
  const at = (_name: string, options: object) => ({ options });
  expect(ask({ hosted: [at('a', { pool: 'small' }), at('b', {})] })?.why).toBe('2 workers: pool small has 2 browsers');
  expect(ask({ hosted: [at('a', { pool: 'other' })] })).toMatchObject({ workers: null });
  expect(ask({ hosted: [at('a', { pool: { create: { size: 4 } } })] })?.why).toBe(
    "4 workers: the run's pool has 4 browsers",
  );
  expect(ask({ hosted: [at('a', { pool: { create: {} } })] })?.workers).toBe(6);
  process.env.POOLWRIGHT_POOL = 'small';
  expect(ask({})?.workers).toBe(2);
  expect(ask({ hosted: [at('a', { pool: null })] })?.workers).toBe(6);
});

test('the user’s own browsers bound it: all that `browsers` may serve, or the limit that a provider has told', async ({
  ask,
}) => {
  const browsers = ['http://localhost:9222', { url: 'ws://localhost:9223', max: 3 }];
  expect(ask({ options: { browsers } })?.why).toBe('4 workers: 4 browsers of `browsers` can be used at once');
  const own = { options: { provider: './browsers.ts' } };
  expect(ask(own)).toBeNull();
  const file = limitsFile(process.cwd(), { kind: 'provider', file: 'browsers.ts', isOption: false });
  await rememberLimits(file, { concurrentBrowsers: 3, pools: new Map() });
  expect(ask(own)).toEqual({ workers: 3, why: '3 workers: browsers.ts allows 3 browsers at once' });
});

test('another key, the emulator and a run that cannot start get Playwright’s own number', ({ ask }) => {
  expect(ask({ options: { ...SERVICE, apiKey: 'other' } })).toMatchObject({ workers: null });
  expect(ask({ options: { ...SERVICE, baseURL: 'https://other.example.com' } })).toMatchObject({ workers: null });
  expect(ask({ options: { service: 'emulator' } })?.workers ?? null).toBeNull();
  expect(ask({ options: { service: 'hosted' } })).toBeNull();
  expect(ask({ hosted: [] })).toBeNull();
});
