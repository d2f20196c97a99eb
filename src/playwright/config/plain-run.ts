/** What makes `playwright test` end without a run, or keeps it after one. */
const NO_PLAIN_RUN = /^(--list|--help|-h|--ui|--ui-host|--ui-port)(=|$)/;

/**
 * Whether this process is the runner of one run, which begins as soon as its config is read, and which Ctrl-C ends: `playwright
 * test` on a command line. Not with `--list` or UI mode; not an editor's, not a worker, not `merge-reports`.
 * @param args of this process
 */
export function isPlainRun([, , command, ...rest]: readonly string[]): boolean {
  return command === 'test' && process.env.PWTEST_WATCH === undefined && !rest.some((each) => NO_PLAIN_RUN.test(each));
}
