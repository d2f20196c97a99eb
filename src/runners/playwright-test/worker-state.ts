import type { PlaywrightConnection } from '../../clients/playwright/connection.ts';
import type { WorkerBrowser } from '../../clients/shared/worker-browser.ts';
import type { Launch, Launched } from './launches.ts';
import { Recorder } from './recording/recorder.ts';

/** State that the fixtures of one worker process share. */
export interface WorkerState {
  /** The worker's hosted browser, once a test has needed one. */
  hosted: WorkerBrowser<PlaywrightConnection> | null;
  readonly recorder: Recorder;
  /** Starts browsers that tests and fixtures launch themselves; null: they are not hosted. */
  launch: ((launch: Launch) => Promise<Launched>) | null;
  /** Context options of the running test. Playwright adds them to those of `newContext` internally. */
  contextUse: Readonly<Record<string, unknown>>;
}

const KEY = Symbol.for('poolwright.worker');

/**
 * The single state of this process. Stored on `globalThis`, because a config and a test file may load poolwright in
 * different module systems, but must use the same browser.
 */
export function workerState(): WorkerState {
  const holder = globalThis as { [KEY]?: WorkerState };
  holder[KEY] ??= { hosted: null, recorder: new Recorder(), launch: null, contextUse: {} };
  return holder[KEY];
}
