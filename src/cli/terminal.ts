import { createInterface } from 'node:readline/promises';
import yoctoSpinner from 'yocto-spinner';
import { print } from '../common/text/notify.ts';
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

/** Work that is done sooner than this, in ms, needs no word where there is no terminal. */
const LONG_MS = 3_000;

/**
 * Shows on stderr that something is under way: a spinner on a terminal, which is gone when the work is done; elsewhere
 * (CI, a pipe) one line, once it takes longer than 3 s.
 * @param work gets a function that changes the words
 */
export async function withProgress<T>(text: string, work: (say: (text: string) => void) => Promise<T>): Promise<T> {
  if (process.stderr.isTTY && !process.env.CI) {
    const spinner = yoctoSpinner({ text: `${text} …`, stream: process.stderr }).start();
    try {
      return await work((now) => {
        spinner.text = `${now} …`;
      });
    } finally {
      spinner.stop();
    }
  }
  let latest = text;
  const timer = setTimeout(() => void print(`${latest} …`), LONG_MS);
  try {
    return await work((now) => {
      latest = now;
    });
  } finally {
    clearTimeout(timer);
  }
}
