import { createInterface } from 'node:readline/promises';
import { OptionsError, PoolwrightError } from '../errors.ts';

/**
 * Asks the person at the terminal before something is destroyed; `yes` (the flag `--yes`) answers for them.
 * @throws OptionsError when there is no terminal; PoolwrightError `ABORTED` for any answer but y or yes
 */
export async function confirm(question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY) {
    throw new OptionsError(
      '--yes',
      `${question} Without a terminal, nobody can answer: add --yes to continue without asking.`,
    );
  }
  // On stderr, so that stdout contains only the command's output.
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D are answers, too.
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(`${question} [y/N] `), closed]);
  terminal.close();
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new PoolwrightError('ABORTED', 'Nothing was changed.');
}
