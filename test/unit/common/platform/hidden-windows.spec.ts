import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@playwright/test';

const root = resolve(import.meta.dirname, '../../../../src');
/** What runs on Unix only, or prints to the terminal that it was started from. */
const UNIX_ONLY = [
  'emulator/disk/separate-disk.ts',
  'broker/recovery/system-identity.ts',
  'cli/stop.ts',
  'relay/lease/browser-pipe.ts',
  'relay/lease-processes.ts',
];

/** The text of each call that starts a program, up to the parenthesis that closes it. */
function starts(source: string): string[] {
  return [...source.matchAll(/(?<![.#\w])(spawn|spawnSync|execFile|execFileSync|fork)\(/g)].map(
    ({ index, 0: name }) => {
      let depth = 1;
      let end = index + name.length;
      for (; depth > 0; end++) depth += { '(': 1, ')': -1 }[source[end] ?? ')'] ?? 0;
      return source.slice(index, end);
    },
  );
}

test('Windows: nothing that poolwright starts opens a console window', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !UNIX_ONLY.includes(file));
  const calls = files.flatMap((file) => starts(readFileSync(join(root, file), 'utf8')).map((call) => ({ file, call })));
  expect(calls.length).toBeGreaterThanOrEqual(4);
  expect(calls.filter(({ call }) => !call.includes('windowsHide: true'))).toEqual([]);
});
