import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { InvalidArgumentError } from 'commander';
import { OptionsError } from '../errors.ts';

/** Values of flags. */

/** Parser of a whole-number option; the caller checks its range. */
export function integer(value: string): number {
  if (!/^-?\d+$/.test(value)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(value);
}

/** Parser of `--port`. 0: any free one. */
export function portNumber(value: string): number {
  const port = integer(value);
  if (port < 0 || port > 65_535) throw new InvalidArgumentError('It must be a port: 0 to 65535 (0: any free one).');
  return port;
}

/** Parser of an option that is a number, such as 0.05; the caller checks its range. */
export function decimal(value: string): number {
  if (!/^-?(\d+\.?\d*|\.\d+)$/.test(value)) throw new InvalidArgumentError('It must be a number, such as 0.05.');
  return Number(value);
}

/**
 * Reads settings from a file, or `-` for stdin: they may contain a proxy password, and all users of the machine can see
 * arguments.
 * @throws OptionsError for a file that cannot be read, or is not a JSON object
 */
export async function readSettings(flag: string, file: string): Promise<object> {
  const what = file === '-' ? 'the input on stdin' : file;
  let settings: unknown;
  try {
    settings = JSON.parse(file === '-' ? await text(process.stdin) : await readFile(file, 'utf8'));
  } catch (error) {
    // The parser's own message quotes the text.
    const why =
      error instanceof SyntaxError ? 'is not valid JSON' : `cannot be read (${(error as NodeJS.ErrnoException).code})`;
    throw new OptionsError(flag, `${flag}: ${what} ${why}.`);
  }
  if (typeof settings === 'object' && settings !== null && !Array.isArray(settings)) return settings;
  throw new OptionsError(flag, `${flag}: ${what} is not a JSON object, such as { "country": "DE" }.`);
}
