import { printable } from '../../printable.ts';

/** Prints one line for the user, on standard error, because standard output may be a reporter's JSON. */
export function notify(text: string): void {
  void print(`poolwright: ${printable(text)}`);
}

/** Prints prepared text, such as a summary, on standard error; resolves when it is written. */
export async function print(text: string): Promise<void> {
  await new Promise((written) => process.stderr.write(`${text}\n`, written));
}
