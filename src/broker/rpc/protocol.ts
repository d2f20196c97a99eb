import type { WireError } from './wire-error.ts';

export type {
  GiveBackParams,
  HostedProject,
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
  /** Cancels this connection's pending requests that are marked `ahead`: each fails with ABORTED. */
  cancelAhead: 'cancelAhead',
  giveBack: 'giveBack',
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
  /** Control only: ends every browser, writes the run's record and returns it. */
  finish: 'finish',
} as const;

export type Method = keyof typeof METHODS;

/** The response to the request with this ID. Responses may arrive in any order. */
export type Reply = { id: number } & ({ result: unknown } | { error: WireError });
