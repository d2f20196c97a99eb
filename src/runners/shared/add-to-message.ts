/**
 * Adds text to the error of a failed test, in message and stack, because runners print either or both.
 * @param cause why it failed, which comes first
 */
export function addToMessage(error: unknown, text: string, cause?: string): void {
  if (!(error instanceof Object) || !('message' in error) || typeof error.message !== 'string') return;
  const { message } = error;
  if (message.includes(text)) return;
  const longer = `${cause === undefined ? '' : `${cause}\n\n`}${message}\n${text}`;
  if ('stack' in error && typeof error.stack === 'string') error.stack = withMessage(error.stack, message, longer);
  error.message = longer;
}

function withMessage(stack: string, message: string, longer: string): string {
  if (message === '') return `${stack.split('\n', 1)[0]}${longer}${stack.slice(stack.indexOf('\n'))}`;
  // A function, because `replace` would interpret `$` in a string.
  return stack.replace(message, () => longer);
}
