import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { ROOT } from '../../support/docs/pages.ts';

/** The recipes of docs/services.md, of the example and of `init` are one text. */

const EXAMPLE = join(ROOT, 'examples/own-browsers');

test('docs/services.md shows files of examples/own-browsers', () => {
  const page = readFileSync(join(ROOT, 'docs/services.md'), 'utf8');
  const shown = [...page.matchAll(/^```ts\n\/\/ (services\/\S+)\n([\s\S]*?)^```$/gm)];
  expect(shown.map(([, file]) => file)).toEqual([
    'services/browserless.ts',
    'services/browserbase.ts',
    'services/refused.ts',
  ]);
  for (const [, file = '', text] of shown) expect(text, file).toBe(readFileSync(join(EXAMPLE, file), 'utf8'));
});

test('`init` writes the provider of the example', () => {
  const provider = readFileSync(join(EXAMPLE, 'browsers.mjs'), 'utf8');
  expect(readFileSync(join(ROOT, 'templates/browsers.mjs'), 'utf8')).toBe(provider);
});
