import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@playwright/test';
import { notesOf } from '../../../scripts/release/notes.mjs';
import { nextStep } from '../../../scripts/release/state.mjs';

const root = resolve(import.meta.dirname, '../../..');
const CHANGELOG = `# Changelog

## 1.1.0

### Minor Changes

- Two.

## 1.0.0

One.

## Unreleased

First.
`;

test('what a release does next', () => {
  let asked = 0;
  const published = (answer: boolean) => () => {
    asked++;
    return answer;
  };
  expect(nextStep(['README.md', 'config.json', 'brave-dogs.md'], published(false))).toBe('propose');
  expect(asked, 'the registry is asked only when there is something to know').toBe(0);
  expect(nextStep(['README.md', 'config.json'], published(false))).toBe('publish');
  expect(nextStep(['README.md', 'config.json'], published(true))).toBe('nothing');
});

test('the notes of a version are its own part of the changelog', () => {
  expect(notesOf('1.1.0', CHANGELOG)).toBe('### Minor Changes\n\n- Two.');
  expect(notesOf('1.0.0', CHANGELOG)).toBe('One.');
  expect(notesOf('1.1', CHANGELOG)).toBe('First.');
  const { version } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'));
  expect(notesOf(version, readFileSync(resolve(root, 'CHANGELOG.md'), 'utf8'))).not.toBe('');
});
