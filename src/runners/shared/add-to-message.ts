/**
 * Adds text to the error of a failed test, once, in message and stack, because runners print either or both.
 * @param cause why it failed, which comes first
 * @returns false if it is not an error, or frozen
 */
export function addToMessage(error: unknown, text: string, cause?: string): boolean {
  if (!hasMessage(error) || Object.isFrozen(error)) return false;
  const { message, stack } = error;
  // Tests that fail in the same hook share one error object.
  if (message.includes(text)) return true;
  const longer = `${cause === undefined ? '' : `${cause}\n\n`}${message}\n${text}`;
  if (typeof stack === 'string')
    error.stack = stack.includes(message) ? withMessage(stack, message, longer) : `${stack}\n${text}`;
  error.message = longer;
  return true;
}

/** Whether it is an error, also one of another realm. */
export function hasMessage(error: unknown): error is { message: string; stack?: unknown } {
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';
}

function withMessage(stack: string, message: string, longer: string): string {
  if (message === '') return `${stack.split('\n', 1)[0]}${longer}${stack.slice(stack.indexOf('\n'))}`;
  // A function, because `replace` would interpret `$` in a string.
  return stack.replace(message, () => longer);
}
