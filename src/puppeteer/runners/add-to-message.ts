/** Adds a text to what a test failed with: runners show an error's stack, its message, or both. */
export function addToMessage(error: unknown, text: string): void {
  if (!(error instanceof Object) || !('message' in error) || typeof error.message !== 'string') return;
  const { message } = error;
  if (message.includes(text)) return;
  const longer = `${message}\n${text}`;
  if ('stack' in error && typeof error.stack === 'string') error.stack = withMessage(error.stack, message, longer);
  error.message = longer;
}

function withMessage(stack: string, message: string, longer: string): string {
  if (message === '') return `${stack.split('\n', 1)[0]}${longer}${stack.slice(stack.indexOf('\n'))}`;
  // A function: `$` means nothing in it.
  return stack.replace(message, () => longer);
}
