import type { SerializedError } from './serialized-error.ts';

export type {
  GiveBackParams,
  HostedProject,
  IdleParams,
  LeaseParams,
  PrefetchParams,
  RedactParams,
  RemainingParams,
} from './requests.ts';
export type { LeasedBrowser, RunState, SessionReport } from './responses.ts';

/**
 * The broker's protocol: requests and responses, each one line of JSON. A worker's connection is its claim on its
 * browser: if it breaks without a `giveBack`, the broker ends the browser.
 */

/** The requests that a connection may send. */
export const METHODS = {
  hello: 'hello',
  /** A regular sign of life: each side regards the other one as dead if it stays silent. */
  ping: 'ping',
  lease: 'lease',
  /** Cancels this connection's pending requests that are marked `prefetch`: each fails with ABORTED. */
  cancelPrefetch: 'cancelPrefetch',
  giveBack: 'giveBack',
  /** Whether a worker without a test should give its browser back: another one waits, and the service has none. */
  isWanted: 'isWanted',
  testUsage: 'testUsage',
  say: 'say',
  sessionReport: 'sessionReport',
  /** Masks the secrets of the run, which only the broker knows. */
  redact: 'redact',
  /** Control only: prefetches browsers for workers that are being started. */
  prefetch: 'prefetch',
  /** Control only: sets all remaining tests. They are known as long as this connection is open. */
  remaining: 'remaining',
  /**
   * Control only: returns the state of the browsers. After the first call, responses include the terminal's lines while
   * the connection is open.
   */
  watch: 'watch',
  /** What watchers want, see `broker/watch`. Responds when it changes. */
  watched: 'watched',
  /** Sets the tests that run on this connection. Sent while somebody watches. */
  running: 'running',
  /** A picture of a page. Responds when the watchers have shown it. */
  picture: 'picture',
  pageClosed: 'pageClosed',
  /** A test waits. Responds when a watcher has released it. */
  hold: 'hold',
  endHold: 'endHold',
  /** What watchers do in the pages of a hold. */
  inputs: 'inputs',
  /** Watchers only: the state of the run. Responds when it is newer than the known one. */
  runView: 'runView',
  /** Watchers only: sets for which slots pictures are wanted. */
  demand: 'demand',
  /** Watchers only: new pictures. Responds when there is one. */
  pictures: 'pictures',
  /** Watchers only: a picture is shown. */
  shown: 'shown',
  /** Watchers only: something done in a page of a hold. */
  input: 'input',
  /** Watchers only: ends a hold. */
  release: 'release',
  /** Control only: ends every browser, writes the run's record and returns it. */
  finish: 'finish',
} as const;

export type Method = keyof typeof METHODS;

/** The response to the request with this ID. Responses may arrive in any order. */
export type Reply = { id: number } & ({ result: unknown } | { error: SerializedError });
