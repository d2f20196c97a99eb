import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from '@playwright/test';

const root = resolve(import.meta.dirname, '../../src');

/** Imported by everybody. */
const BASE = ['errors.ts', 'redact.ts', 'common'];

/** The rooms, and what each may import beside itself. */
const MAY_IMPORT: Record<string, string[]> = {
  'errors.ts': [],
  'redact.ts': [],
  common: ['errors.ts', 'redact.ts'],
  'index.ts': ['errors.ts', 'record', 'broker', 'options', 'playwright', 'worker'],
  service: BASE,
  options: ['service', ...BASE],
  lease: ['options', 'service', ...BASE],
  record: BASE,
  broker: ['record', 'lease', 'options', 'service', ...BASE],
  cdp: BASE,
  worker: ['record', 'broker', 'cdp', 'options', ...BASE],
  // Simulations of runs from records of runs: no I/O.
  advise: ['record', ...BASE],
  reporter: ['advise', 'record', 'broker', 'lease', 'options', 'service', ...BASE],
  // The global setup prints the summary where the reporter is not loaded.
  setup: ['record', 'broker', 'lease', 'options', 'reporter', ...BASE],
  playwright: ['setup', 'worker', 'record', 'broker', 'cdp', 'lease', 'options', 'service', 'reporter', ...BASE],
  puppeteer: ['setup', 'worker', 'record', 'broker', 'cdp', 'options', 'reporter', ...BASE],
  emulator: ['service', ...BASE],
  cli: ['emulator', 'advise', 'record', 'broker', 'cdp', 'lease', 'options', 'service', 'reporter', ...BASE],
};

/** Files side by side in one folder. */
const MOST_FILES = 13;

/** Of `service/`, the emulator shares the schemas and the numbers in them, nothing else. */
const EMULATOR_MAY_SHARE = /^service\/(schemas\/|limits\.ts$|session-types\.ts$)/;

const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts') && statSync(join(root, file)).isFile());

/** Relative imports of a file: type-only ones and `import()` included, unless those are left out. */
function importsOf(file: string, { typesToo = true, lazyToo = true } = {}): string[] {
  const source = readFileSync(join(root, file), 'utf8');
  const found = source.matchAll(
    /^(?:import|export)\s+(type\s)?[^;'"]*?from\s+'(\.[^']+)'|^import\s+'(\.[^']+)'|import\('(\.[^']+)'\)/gms,
  );
  return [...found]
    .filter((match) => typesToo || match[1] === undefined)
    .filter((match) => lazyToo || match[4] === undefined)
    .map((match) => match[2] ?? match[3] ?? match[4] ?? '')
    .map((path) => relative(root, resolve(root, dirname(file), path)).replaceAll('\\', '/'));
}

const folderOf = (file: string) => file.split('/')[0] ?? file;

test('every relative import leads to a file', () => {
  const missing = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => !existsSync(join(root, target)))
      .map((target) => `${file} -> ${target}`),
  );
  expect(missing).toEqual([]);
});

test('no room holds more files than one sees at a glance', () => {
  const rooms = new Map<string, string[]>();
  for (const file of files) rooms.set(dirname(file), [...(rooms.get(dirname(file)) ?? []), file]);
  const crowded = [...rooms]
    .filter(([, inside]) => inside.length > MOST_FILES)
    .map(([room, inside]) => `${room}: ${inside.length}`);
  expect(crowded).toEqual([]);
});

test('imports point one way', () => {
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter(
        (target) =>
          folderOf(target) !== folderOf(file) && !(MAY_IMPORT[folderOf(file)] ?? []).includes(folderOf(target)),
      )
      .map((target) => `${file} -> ${target}`),
  );
  expect(wrong).toEqual([]);
  const shared = files
    .filter((file) => folderOf(file) === 'emulator')
    .flatMap((file) =>
      importsOf(file).filter((target) => folderOf(target) === 'service' && !EMULATOR_MAY_SHARE.test(target)),
    );
  expect(shared).toEqual([]);
});

test('there is no import cycle, type-only ones included', () => {
  const cycles: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, path: string[]): void => {
    const at = path.indexOf(file);
    if (at >= 0) {
      cycles.push([...path.slice(at), file].join(' -> '));
      return;
    }
    if (done.has(file)) return;
    for (const target of importsOf(file)) walk(target, [...path, file]);
    done.add(file);
  };
  for (const file of files) walk(file, []);
  expect(cycles).toEqual([]);
});

test('a worker loads neither the emulator, nor the reporter, nor the service client', () => {
  const reached = reachedFrom('index.ts');
  expect(
    reached.filter((file) => /^(emulator|reporter|cli|lease)\//.test(file) || file === 'service/client.ts'),
  ).toEqual([]);
});

// It takes longer to load than all the rest, and each worker would pay for it.
test('what a worker loads for its tests has no zod in it', () => {
  const reached = reachedFrom('playwright/worker-fixtures.ts', { lazyToo: false });
  expect(reached.filter((file) => /from 'zod'/.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});

/** All that a file loads: sooner or later, or at once. */
function reachedFrom(entry: string, { lazyToo = true } = {}): string[] {
  const reached = new Set<string>();
  const walk = (file: string): void => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const target of importsOf(file, { typesToo: false, lazyToo })) walk(target);
  };
  walk(entry);
  expect(reached.size).toBeGreaterThan(10);
  return [...reached];
}
