/** Tells the user something of the run. To standard error: standard output may be a reporter's JSON. */
export function say(line: string): void {
  process.stderr.write(`poolwright: ${line}\n`);
}
