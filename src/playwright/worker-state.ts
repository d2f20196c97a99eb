import type { WorkerBrowser } from '../worker/worker-browser.ts';
import type { BrowserConnection } from './browser/browser-connection.ts';
import { Recorder } from './recording/recorder.ts';

/** What the fixtures of one worker process share. */
export interface WorkerState {
  /** The worker's hosted browser, once a test has needed one. */
  hosted: WorkerBrowser<BrowserConnection> | null;
  readonly recorder: Recorder;
  /** What `use` sets for the contexts of the running test. Playwright adds it to what newContext is given, unseen. */
  contextUse: Readonly<Record<string, unknown>>;
}

const KEY = Symbol.for('poolwright.worker');

/**
 * The one state of this process. On `globalThis`, because a config and a test file may load poolwright in different
 * module systems and must still mean the same browser.
 */
export function workerState(): WorkerState {
  const holder = globalThis as { [KEY]?: WorkerState };
  holder[KEY] ??= { hosted: null, recorder: new Recorder(), contextUse: {} };
  return holder[KEY];
}
