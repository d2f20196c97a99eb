import type { Circus } from '@jest/types';
import { addToMessage, hasMessage } from '../shared/add-to-message.ts';

/** Jest keeps an error as a pair: the thrown value, and an error with its location. It prints the stack. */

/** Adds an error to a test's errors: the first one, because it caused the others. */
export function addError(test: Circus.TestEntry, error: unknown): void {
  test.errors.unshift([error, error]);
}

/** Adds a note below the message of a test's first error. */
export function addNote(test: Circus.TestEntry, note: string): void {
  const [first] = test.errors;
  const [thrown, where] = [first].flat();
  const below = `\n${note}`;
  // When a test timed out, its error is a string.
  if (typeof thrown === 'string') test.errors[0] = [`${thrown}\n${below}`, where];
  else if (!addToMessage(thrown, below)) {
    const error = Object.assign(new Error(note), { stack: note });
    test.errors.push([error, error]);
  }
}

/** Explains a missing global. `lease: 'auto'` does not look into packages, which may use the globals too. */
export function explainMissing(test: Circus.TestEntry): void {
  const [thrown] = [test.errors[0]].flat();
  const name = hasMessage(thrown) && /^(browser|context|page|hostedSession) is not defined/.exec(thrown.message)?.[1];
  if (!name) return;
  const hint = `this test has no hosted browser, because neither its file nor one that it imports contains \`${name}\`: set \`testEnvironmentOptions: { poolwright: { lease: 'always' } }\``;
  addNote(test, hint);
}
