import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from '@playwright/test';

/** What `.dependency-cruiser.mjs` cannot check: which files a process loads, and how many lie side by side. */

const root = resolve(import.meta.dirname, '../../src');

/** Files side by side in one directory. */
const MOST_FILES = 13;

const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts') && statSync(join(root, file)).isFile());

/** What a file loads from src: at once, and with `lazyToo` by `import()`. */
function importsOf(file: string, lazyToo: boolean): string[] {
  const source = readFileSync(join(root, file), 'utf8');
  const found = source.matchAll(
    /^(?:import|export)\s+(type\s)?[^;'"]*?from\s+'(\.[^']+)'|^import\s+'(\.[^']+)'|import\('(\.[^']+)'\)/gms,
  );
  return [...found]
    .filter((match) => match[1] === undefined)
    .filter((match) => lazyToo || match[4] === undefined)
    .map((match) => match[2] ?? match[3] ?? match[4] ?? '')
    .map((path) => relative(root, resolve(root, dirname(file), path)).replaceAll('\\', '/'));
}

test('no directory contains more than 13 files', () => {
  const rooms = new Map<string, string[]>();
  for (const file of files) rooms.set(dirname(file), [...(rooms.get(dirname(file)) ?? []), file]);
  const crowded = [...rooms]
    .filter(([, inside]) => inside.length > MOST_FILES)
    .map(([room, inside]) => `${room}: ${inside.length}`);
  expect(crowded).toEqual([]);
});

test('a worker loads neither the emulator, nor the reporter, nor the service client', () => {
  const reached = reachedFrom('index.ts');
  expect(reached.filter((file) => /^(emulator|report|cli)\//.test(file) || file === 'service/client.ts')).toEqual([]);
});

// It takes longer to load than all the rest, and each worker would pay for it.
test('a worker loads no zod before its tests', () => {
  const reached = reachedFrom('runners/playwright-test/worker-fixtures.ts', { lazyToo: false });
  expect(reached.filter((file) => /from 'zod'/.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});

/** The list of them, and what learns of their wish for pictures. */
const BEFORE_FEATURES = ['cdp/screencast/filming.ts', 'cdp/screencast/screencast.ts', 'features/list.ts'];
const OF_FEATURES = /^(?:watch|features|broker\/watch|cdp\/screencast)\//;

test('a worker loads nothing of its features before it has a browser', () => {
  const entries = [
    'runners/playwright-test/worker-fixtures.ts',
    'runners/shared/runner-worker.ts',
    'clients/puppeteer/lease-browser.ts',
    'clients/playwright/lease-browser.ts',
    // With its browser.
    'cdp/pipeline.ts',
  ];
  const reached = new Set(entries.flatMap((entry) => reachedFrom(entry, { lazyToo: false })));
  expect([...reached].filter((file) => OF_FEATURES.test(file)).sort()).toEqual(BEFORE_FEATURES);
});

/** All that a file loads: sooner or later, or at once. */
function reachedFrom(entry: string, { lazyToo = true } = {}): string[] {
  const reached = new Set<string>();
  const walk = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const target of importsOf(file, lazyToo)) walk(target);
  };
  walk(entry);
  expect(reached.size).toBeGreaterThan(10);
  return [...reached];
}
