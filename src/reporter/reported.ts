/** Whether the reporter is loaded: `--reporter=…` on the command line takes the place of all that the config names. */

const REPORTED = Symbol.for('poolwright.summary-is-reported');
const holder = globalThis as { [REPORTED]?: boolean };

/** Said by the reporter when it is loaded: it has the last word of the run, after the other reporters' output has begun. */
export function reportHere(): void {
  holder[REPORTED] = true;
}

/** Whether a reporter will report the run; without one the global teardown does. */
export function isReported(): boolean {
  return holder[REPORTED] === true;
}
