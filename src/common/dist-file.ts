import { fileURLToPath } from 'node:url';

/** Built files of ours that are found by path: entries of processes, what Playwright loads, the timeline's own code. */
type DistFile =
  | 'broker-main.js'
  | 'emulator-main.js'
  | 'global-setup.js'
  | 'jest-environment.js'
  | 'jest-global-setup.js'
  | 'jest-global-teardown.js'
  | 'node-test-run.js'
  | 'reporter.js'
  | 'timeline.js'
  | 'timeline.css';

/** The path of a built file. Every entry lies flat in `dist/`, and so does the chunk this code is in. */
export function distFile(name: DistFile): string {
  return fileURLToPath(new URL(`./${name}`, import.meta.url));
}
