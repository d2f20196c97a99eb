import { fileURLToPath } from 'node:url';

/** Our built files that are found by path: entry points of processes, files that Playwright loads, scripts of pages. */
type DistFile =
  | 'browser.js'
  | 'broker-main.js'
  | 'cli.js'
  | 'emulator-main.js'
  | 'film.css'
  | 'film.js'
  | 'global-setup.cjs'
  | 'hosted-launch.cjs'
  | 'jest-environment.js'
  | 'jest-global-setup.js'
  | 'jest-global-teardown.js'
  | 'node-test-run.js'
  | 'options.cjs'
  | 'page-network.js'
  | 'page-files.js'
  | 'protocol.cjs'
  | 'provider-main.js'
  | 'refused-config.cjs'
  | 'relay-lease.js'
  | 'run-reporter.cjs'
  | 'timeline.js'
  | 'timeline.css'
  | 'watch.js'
  | 'watch.css'
  | 'workers.cjs';

/** All entry points and chunks are directly in `dist/`. Tests run on the sources. */
const DIST = new URL(import.meta.url.endsWith('.ts') ? '../../dist/' : './', import.meta.url);

/** The path of a built file. */
export function distFile(name: DistFile): string {
  return fileURLToPath(new URL(name, DIST));
}
