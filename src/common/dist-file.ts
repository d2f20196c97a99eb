import { fileURLToPath } from 'node:url';

/** Built files of ours that are found by path: entries of processes, what Playwright loads, the code of pages. */
type DistFile =
  | 'broker-main.js'
  | 'emulator-main.js'
  | 'global-setup.cjs'
  | 'jest-environment.js'
  | 'jest-global-setup.js'
  | 'jest-global-teardown.js'
  | 'node-test-run.js'
  | 'page-answers.js'
  | 'page-files.js'
  | 'page-web-socket.js'
  | 'reporter.cjs'
  | 'timeline.js'
  | 'timeline.css';

/** Every entry lies flat in `dist/`, and so does the chunk this code is in. Tests run on the sources. */
const DIST = new URL(import.meta.url.endsWith('.ts') ? '../../dist/' : './', import.meta.url);

/** The path of a built file. */
export function distFile(name: DistFile): string {
  return fileURLToPath(new URL(name, DIST));
}
