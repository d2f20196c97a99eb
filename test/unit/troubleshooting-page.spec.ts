import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@playwright/test';
import { errorCodes } from '../../src/errors.ts';

test('the troubleshooting page has every error code, in the order of errors.ts, and no other', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/troubleshooting.md'), 'utf8');
  const headings = [...page.matchAll(/^### `([A-Z_]+)`$/gm)].map(([, code]) => code);
  expect(headings).toEqual([...errorCodes]);
});
