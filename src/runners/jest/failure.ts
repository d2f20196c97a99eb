import type { Circus } from '@jest/types';

/** Jest keeps an error as a pair: the thrown value, and an error with its location. It prints the stack. */

/** Adds an error to a test's errors: the first one, because it caused the others. */
export function addError(test: Circus.TestEntry, error: unknown): void {
  test.errors.unshift([error, error]);
}

/** Adds a note below the message of a test's first error. */
export function addNote(test: Circus.TestEntry, note: string): void {
  const [first] = test.errors;
  const [thrown, where] = [first].flat();
  // When a test timed out, its error is a string.
  if (typeof thrown === 'string') test.errors[0] = [below(thrown, note), where];
  else if (isError(thrown)) noteOn(thrown, note);
  else {
    const error = Object.assign(new Error(note), { stack: note });
    test.errors.push([error, error]);
  }
}

/** Explains a missing global. `lease: 'auto'` does not look into packages, which may use the globals too. */
export function explainMissing(test: Circus.TestEntry): void {
  const [thrown] = [test.errors[0]].flat();
  const name = isError(thrown) && /^(browser|context|page|hostedSession) is not defined/.exec(thrown.message)?.[1];
  if (!name) return;
  const hint = `this test has no hosted browser, because neither its file nor one that it imports contains \`${name}\`: set \`testEnvironmentOptions: { poolwright: { lease: 'always' } }\``;
  addNote(test, hint);
}

function isError(thrown: unknown): thrown is { message: string; stack: string } {
  if (typeof thrown !== 'object' || thrown === null || Object.isFrozen(thrown)) return false;
  return (
    'stack' in thrown && typeof thrown.stack === 'string' && 'message' in thrown && typeof thrown.message === 'string'
  );
}

/** Tests that fail in the same hook share one error object, so the note is added only once. */
function noteOn(error: { message: string; stack: string }, note: string): void {
  const { message, stack } = error;
  if (message.includes(note)) return;
  const noted = below(message, note);
  error.message = noted;
  // A function, because `replace` would interpret `$` in a string.
  error.stack = message && stack.includes(message) ? stack.replace(message, () => noted) : below(stack, note);
}

function below(text: string, note: string): string {
  return `${text}\n\n${note}`;
}
