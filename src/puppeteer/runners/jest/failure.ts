import type { Circus } from '@jest/types';

/** Errors of a test as Jest keeps them: what was thrown, beside one that says where. What it prints is the stack. */

/** Adds an error to those that a test has. */
export function addError(test: Circus.TestEntry, error: unknown): void {
  test.errors.push([error, error]);
}

/** Puts a line below the message of a test's first error. */
export function addNote(test: Circus.TestEntry, note: string): void {
  const [first] = test.errors;
  const [thrown, where] = [first].flat();
  // A test that ran out of time has a text.
  if (typeof thrown === 'string') test.errors[0] = [below(thrown, note), where];
  else if (isError(thrown)) noteOn(thrown, note);
  else addError(test, Object.assign(new Error(note), { stack: note }));
}

/** A package may use the globals where no file of the user's names them. */
export function explainMissing(test: Circus.TestEntry): void {
  const [thrown] = [test.errors[0]].flat();
  const name = isError(thrown) && /^(browser|context|page|hostedSession) is not defined/.exec(thrown.message)?.[1];
  if (!name) return;
  const hint = `neither this file nor one that it imports names \`${name}\`, so that it has no hosted browser: set \`testEnvironmentOptions: { poolwright: { lease: 'always' } }\``;
  addNote(test, hint);
}

function isError(thrown: unknown): thrown is { message: string; stack: string } {
  if (typeof thrown !== 'object' || thrown === null || Object.isFrozen(thrown)) return false;
  return (
    'stack' in thrown && typeof thrown.stack === 'string' && 'message' in thrown && typeof thrown.message === 'string'
  );
}

/** Tests that fail by one hook have the same error. */
function noteOn(error: { message: string; stack: string }, note: string): void {
  const { message, stack } = error;
  if (message.includes(note)) return;
  const noted = below(message, note);
  error.message = noted;
  // By a function: a message may have what `replace` takes for a pattern.
  error.stack = message && stack.includes(message) ? stack.replace(message, () => noted) : below(stack, note);
}

function below(text: string, note: string): string {
  return `${text}\n\n${note}`;
}
