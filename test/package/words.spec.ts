import { expect, test } from '@playwright/test';
import { findingsIn } from '../../scripts/words.mjs';

// In parts, so that the check does not find them here.
const PHRASE = ['of', 'its', 'own'].join(' ');

test('finds a phrase in a comment when a line break divides it', () => {
  const [first, ...rest] = PHRASE.split(' ');
  const text = `/**\n * A process ${first}\n * ${rest.join(' ')}.\n */`;
  expect(findingsIn('a.ts', text)).toEqual([expect.stringMatching(new RegExp(`^a\\.ts:2: "${PHRASE}"`))]);
});

test('finds a phrase in comments, messages and names of tests', () => {
  const lines = ['// A', '/* A', "test('a", "throw new Error('a"];
  for (const line of lines) expect(findingsIn('a.ts', `${line} process ${PHRASE}`), line).toHaveLength(1);
});

test('finds no phrase inside a longer word', () => {
  expect(findingsIn('a.md', `${PHRASE}er`)).toEqual([]);
  expect(findingsIn('a.md', 'there is no key, which is no longer valid')).toEqual([]);
});

test('finds a comment line of more than 120 columns, and no other long line', () => {
  const long = 'x'.repeat(120);
  expect(findingsIn('a.ts', `const a = '${long}';\n// ${long}`)).toEqual(['a.ts:2: a comment line of 123 columns']);
  expect(findingsIn('a.md', `* ${long}`)).toEqual([]);
});
