import { printable } from './printable.ts';

/** Tells the user something in one line. On standard error: standard output may be a reporter's JSON. */
export function notify(text: string): void {
  process.stderr.write(`poolwright: ${printable(text)}\n`);
}
