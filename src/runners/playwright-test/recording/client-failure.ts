import { printable } from '../../../printable.ts';
import { redactText } from '../../../redact.ts';

const FRAME = /^\s+at /;
const IN_PLAYWRIGHT = /[\\/]playwright-core[\\/]/;
const IN_NODE = /node:/;
/** Maximum length of a quoted message, in characters. */
const MAX_MESSAGE = 200;

/**
 * Describes an uncaught error that Playwright has thrown by itself, in no call of a test or fixture: it cannot handle
 * what the browser has sent, and would fail in the next test, too. Null for all other errors, whose stack has frames of
 * the test, a fixture or a hook.
 */
export function clientFailure({ message, stack = '' }: Error): string | null {
  const frames = stack.split('\n').filter((line) => FRAME.test(line));
  const isPlaywrights =
    frames.some((frame) => IN_PLAYWRIGHT.test(frame)) &&
    frames.every((frame) => IN_PLAYWRIGHT.test(frame) || IN_NODE.test(frame));
  return isPlaywrights
    ? `Playwright failed on what it sent: "${printable(redactText(message)).slice(0, MAX_MESSAGE)}"`
    : null;
}

/**
 * Watches for such errors until the returned function is called. Reads them as they are thrown, because Playwright
 * removes its own frames from the errors of a test. Playwright listens to both events, too, and fails the test.
 */
export function onClientFailure(listener: (failure: string) => void): () => void {
  const onError = (error: unknown) => {
    const failure = error instanceof Error ? clientFailure(error) : null;
    if (failure !== null) listener(failure);
  };
  process.on('unhandledRejection', onError).on('uncaughtExceptionMonitor', onError);
  return () => {
    process.off('unhandledRejection', onError).off('uncaughtExceptionMonitor', onError);
  };
}
