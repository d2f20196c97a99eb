import type { WireError } from './wire-error.ts';

export type { LeasedBrowser, RunState, SessionReport } from './answers.ts';
export type { GiveBackParams, HostedProject, LeaseParams, PrefetchParams, RemainingParams } from './requests.ts';

/**
 * What goes over the broker's socket: requests and their answers, each a line of JSON. A worker's connection is its claim on its browser: when it breaks without a
 * `giveBack`, the broker ends the browser.
 */

/** The requests a connection may send. */
export const METHODS = {
  hello: 'hello',
  /** A sign of life, asked for again and again: each side takes the other one for dead when it stays silent. */
  ping: 'ping',
  lease: 'lease',
  /** Ends this connection's requests for a browser that are marked `ahead` and have none yet: each fails as ABORTED. */
  cancelAhead: 'cancelAhead',
  giveBack: 'giveBack',
  testUsage: 'testUsage',
  say: 'say',
  sessionReport: 'sessionReport',
  /** Control only: fetch browsers for workers that are being started. */
  prefetch: 'prefetch',
  /** Control only: which tests are still to come, each time the whole. Known for as long as this connection is open. */
  remaining: 'remaining',
  /** Control only: what becomes of the browsers. Once asked, the terminal's lines come with it while the line is open. */
  watch: 'watch',
  /** Control only: end every browser, and answer with the run's record, which is the asker's to write. */
  finish: 'finish',
  /** Control only: the record is written. A broker that is not told so before it exits writes it itself. */
  recorded: 'recorded',
} as const;

export type Method = keyof typeof METHODS;

/** The answer to the request with this ID. Answers come in any order. */
export type Answer = { id: number } & ({ result: unknown } | { error: WireError });
