import { CommanderError } from 'commander';
import { errorMessage } from '../common/error-message.ts';
import { print } from '../common/text/notify.ts';
import { printableLines } from '../common/text/printable.ts';
import { OptionsError, PoolwrightError } from '../errors.ts';
import { redactText } from '../redact.ts';

/** 0: done, 1: failed, 2: bad usage. */
export type ExitCode = 0 | 1 | 2;

/** Says what went wrong, for a person (no stack for a person's mistake) or as JSON; returns the exit code. */
export function reportFailure(error: unknown, json: boolean): ExitCode {
  // Commander has printed it already; its zero is for --help and --version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const known = error instanceof PoolwrightError;
  const message = printableLines(redactText(errorMessage(error)));
  if (json) process.stdout.write(`${JSON.stringify({ error: { code: known ? error.code : 'INTERNAL', message } })}\n`);
  else void print(`poolwright: ${known ? message : describeBug(error)}`);
  const isUsage = error instanceof OptionsError || (known && error.code === 'REQUEST_INVALID');
  return isUsage ? 2 : 1;
}

function describeBug(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `this is a bug in poolwright; please report it.\n${printableLines(redactText(text))}`;
}
