import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import fc from 'fast-check';
import { limitsFile, readLimits, rememberLimits } from '../../../../src/broker/ledger/known-limits.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const SERVICE = { kind: 'hosted', baseURL: 'https://browsers.example.com', apiKey: 'key-word' } as const;
const NOBODY = 65_534;
const NOTHING = { concurrentBrowsers: null, pools: new Map() };

const test = base.extend<{ project: string }>({
  project: async ({}, use) => {
    const project = mkdtempSync(join(tmpdir(), 'limits-test-'));
    mkdirSync(join(project, 'node_modules'));
    writeFileSync(join(project, 'package.json'), '{ "name": "app" }');
    await use(project);
    rmSync(project, { recursive: true, force: true });
  },
});

test('what a run learned is added to what is known', async ({ project }) => {
  const file = limitsFile(project, SERVICE);
  expect(readLimits(file)).toEqual(NOTHING);
  await rememberLimits(file, { concurrentBrowsers: 10, pools: new Map([['a', 4]]) });
  await rememberLimits(file, { concurrentBrowsers: null, pools: new Map([['b', 2]]) });
  expect(readLimits(file)).toEqual({
    concurrentBrowsers: 10,
    pools: new Map([
      ['a', 4],
      ['b', 2],
    ]),
  });
  await rememberLimits(file, { concurrentBrowsers: 3, pools: new Map([['a', 1]]) });
  expect(readLimits(file)).toMatchObject({ concurrentBrowsers: 3 });
});

test('each key and each service has its own file, without key and address', async ({ project }) => {
  const others = [SERVICE, { ...SERVICE, apiKey: 'other' }, { ...SERVICE, baseURL: 'https://other.example.com' }];
  for (const [at, service] of others.entries()) {
    await rememberLimits(limitsFile(project, service), { concurrentBrowsers: at + 1, pools: new Map() });
  }
  expect(others.map((service) => readLimits(limitsFile(project, service)).concurrentBrowsers)).toEqual([1, 2, 3]);
  const directory = join(project, 'node_modules/.cache/poolwright');
  const files = readdirSync(directory);
  expect(files).toHaveLength(3);
  for (const name of files) expect(name + readFileSync(join(directory, name), 'utf8')).not.toMatch(/key-word|example/);
});

test('a provider has its own file, whichever directory its path starts at; other browsers have none', ({ project }) => {
  const at = (file: string) => limitsFile(project, { kind: 'provider', file, isOption: true });
  expect(at('./browsers.ts')).toBe(at('/suite/browsers.ts'));
  expect(new Set([at('browsers.ts'), at('others.ts'), limitsFile(project, SERVICE)]).size).toBe(3);
  expect(limitsFile(project, { kind: 'browsers', browsers: [] })).toBeNull();
  expect(limitsFile(project, { kind: 'emulator', chosenBy: 'option' })).toBeNull();
});

test('a damaged file counts as missing, and is replaced', async ({ project }) => {
  const file = limitsFile(project, SERVICE) ?? '';
  await rememberLimits(file, { concurrentBrowsers: 5, pools: new Map() });
  const valid = readFileSync(file, 'utf8');
  for (const damaged of ['', valid.slice(0, -5), '[]', 'null', '7', '{"concurrentBrowsers":"9"}', '{"pools":"abc"}']) {
    writeFileSync(file, damaged);
    expect(readLimits(file), damaged).toEqual(NOTHING);
  }
  await rememberLimits(file, { concurrentBrowsers: 5, pools: new Map() });
  expect(readFileSync(file, 'utf8')).toBe(valid);
});

test('only positive whole numbers are read, whatever the file contains', ({ project }) => {
  const file = join(project, 'limits.json');
  const isCount = (value: number) => Number.isSafeInteger(value) && value >= 1;
  fc.assert(
    fc.property(fc.record({ concurrentBrowsers: fc.json(), pools: fc.json() }), ({ concurrentBrowsers, pools }) => {
      writeFileSync(file, `{"concurrentBrowsers":${concurrentBrowsers},"pools":${pools}}`);
      const known = readLimits(file);
      const numbers = [...known.pools.values(), known.concurrentBrowsers ?? 1];
      return numbers.every(isCount);
    }),
    propertyRuns(200),
  );
});

test('a directory that cannot be written to is ignored', async ({ project }) => {
  chmodSync(project, 0o755);
  chmodSync(join(project, 'node_modules'), 0o555);
  const file = limitsFile(project, SERVICE);
  const isRoot = process.getuid?.() === 0; // may write everywhere
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    await rememberLimits(file, { concurrentBrowsers: 5, pools: new Map() });
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
  expect(readLimits(limitsFile(project, SERVICE))).toEqual(NOTHING);
});

test('a path below a file, and no path, are ignored', async ({ project }) => {
  writeFileSync(join(project, 'node_modules/.cache'), '');
  for (const file of [limitsFile(project, SERVICE), null]) {
    await rememberLimits(file, { concurrentBrowsers: 5, pools: new Map() });
    expect(readLimits(file)).toEqual(NOTHING);
  }
});
