/** Flags with which `playwright test` does not run tests, or stays open after the run. */
const NO_PLAIN_RUN = /^(--list|--help|-h|--ui|--ui-host|--ui-port)(=|$)/;

/**
 * Whether this process is the runner of a single run, which starts as soon as the config is loaded and ends with
 * Ctrl-C: `playwright test` on a command line. False for `--list` and UI mode, in editors, in workers, and for
 * `merge-reports`.
 * @param args of this process
 */
export function isPlainRun([, , command, ...rest]: readonly string[]): boolean {
  return command === 'test' && process.env.PWTEST_WATCH === undefined && !rest.some((each) => NO_PLAIN_RUN.test(each));
}
