import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import { addNote, explainMissing } from '../../../../src/runners/jest/failure.ts';

/** The note below the message of a failed Jest test. */

type Entry = Parameters<typeof addNote>[0];
const NOTE = 'hosted browser: session ses_1';
const failedWith = (...errors: unknown[]) => ({ errors }) as Entry;

test('inserts the note once between message and stack, for any message', () => {
  fc.assert(
    fc.property(fc.string(), fc.boolean(), (message, again) => {
      const error = new Error(message);
      const frames = String(error.stack)
        .split('\n')
        .filter((line) => line.startsWith('    at '));
      const where = new Error('where');
      addNote(failedWith([error, where]), NOTE);
      // Tests that fail in the same hook share one error object.
      if (again) addNote(failedWith([error, where]), NOTE);
      const stack = String(error.stack);
      expect(stack.split(NOTE)).toHaveLength(2);
      expect(error.message).toBe(`${message}\n\n${NOTE}`);
      expect(stack).toContain(message);
      expect(stack.split('\n').filter((line) => line.startsWith('    at '))).toEqual(expect.arrayContaining(frames));
    }),
  );
});

test('leaves values alone that are not errors or are frozen', () => {
  const text = failedWith(['Exceeded timeout of 5 ms', new Error('where')]);
  addNote(text, NOTE);
  expect(text.errors[0]?.[0]).toBe(`Exceeded timeout of 5 ms\n\n${NOTE}`);
  for (const thrown of [undefined, null, 7, { a: 1 }, Object.freeze(new Error('frozen'))]) {
    const test = failedWith([thrown, new Error('where')]);
    addNote(test, NOTE);
    expect(test.errors[0]?.[0]).toBe(thrown);
    expect(test.errors[1]?.[0].stack).toBe(NOTE);
  }
});

test('explains a missing global, but not another name', () => {
  const missing = new ReferenceError('page is not defined');
  explainMissing(failedWith([missing, missing]));
  expect(missing.message).toContain("lease: 'always'");
  const other = new ReferenceError('pages is not defined');
  explainMissing(failedWith([other, other]));
  explainMissing(failedWith());
  expect(other.message).toBe('pages is not defined');
});
