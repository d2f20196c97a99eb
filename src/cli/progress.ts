import yoctoSpinner from 'yocto-spinner';
import { print } from '../common/text/notify.ts';

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
