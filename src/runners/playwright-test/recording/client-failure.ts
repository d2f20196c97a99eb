import type { TestInfoError } from '@playwright/test';
import { printable } from '../../../printable.ts';
import { redactText } from '../../../redact.ts';

const FRAME = /^\s+at /;
const IN_PLAYWRIGHT = /[\\/]playwright-core[\\/]/;
const IN_NODE = /node:/;
/** Maximum length of a quoted message, in characters. */
const MAX_MESSAGE = 200;

/**
 * Describes an error that Playwright has thrown by itself, in no call of a test or fixture: it cannot handle what the
 * browser has sent, and would fail in the next test, too. Null for all other errors, whose stack has frames of the
 * test, a fixture or a hook.
 */
export function clientFailure({ message = '', stack = '' }: TestInfoError): string | null {
  const frames = stack.split('\n').filter((line) => FRAME.test(line));
  const isPlaywrights =
    frames.some((frame) => IN_PLAYWRIGHT.test(frame)) &&
    frames.every((frame) => IN_PLAYWRIGHT.test(frame) || IN_NODE.test(frame));
  return isPlaywrights
    ? `Playwright failed on what it sent: "${printable(redactText(message)).slice(0, MAX_MESSAGE)}"`
    : null;
}
