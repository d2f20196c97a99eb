import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@playwright/test';

const root = resolve(import.meta.dirname, '../..');

test('every test named in SECURITY.md exists', () => {
  const page = readFileSync(resolve(root, 'SECURITY.md'), 'utf8');
  const named = [...page.matchAll(/`(test\/\S+\.spec\.ts)` › `([^`]+)`/g)];
  expect(named.length).toBeGreaterThan(15);
  const missing = named
    .filter(([, file = '', title = '']) => !isThere(resolve(root, file), title))
    .map(([reference]) => reference);
  expect(missing).toEqual([]);
  // A claim without a test would not be seen above.
  const claims = page.split('\n').filter((line) => line.startsWith('- '));
  expect(claims.filter((line) => !line.includes('.spec.ts` › `'))).toEqual([]);
});

function isThere(file: string, title: string): boolean {
  return existsSync(file) && readFileSync(file, 'utf8').includes(title);
}
