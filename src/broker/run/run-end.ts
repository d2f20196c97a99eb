import { setMaxListeners } from 'node:events';
import type { Clock } from '../../common/clock.ts';
import { LeaseError, type PoolwrightError } from '../../errors.ts';
import { type BrowserProvider, type RunPools, unleased } from '../../providers/port.ts';
import type { BrowserOrders } from '../acquire/browser-orders.ts';
import type { BrowserQueue } from '../acquire/browser-queue.ts';
import type { HeldBrowsers } from '../browsers/held-browser.ts';
import { parseNote } from '../browsers/session-note.ts';
import type { Log } from '../log/log.ts';

/** How long the end of a run waits for requests already at the service, in ms. */
const PENDING_GRACE_MS = 6_000;
/** How long it waits for the service to confirm every end, in ms. Unconfirmed ends stay in the ledger. */
const CONFIRM_GRACE_MS = 60_000;
/** How long it waits until the pools of the run are deleted, in ms. */
const DELETE_GRACE_MS = 60_000;
/** After this time the terminal shows which ends are pending, in ms. */
const SLOW_END_MS = 3_000;

export interface RunEndOptions {
  phase: RunPhase;
  browsers: HeldBrowsers;
  queue: Pick<BrowserQueue, 'end'>;
  orders: Pick<BrowserOrders, 'settled' | 'doubtful'>;
  pools: Pick<RunPools, 'deleteOwn'>;
  provider: Pick<BrowserProvider, 'limited' | 'list' | 'unlistedMs'>;
  log: Log;
  clock: Clock;
}

/** Gives every browser back and waits, with a deadline, for the service's confirmations. Safe to call again. */
export async function endRun(options: RunEndOptions): Promise<void> {
  const { phase, browsers, orders, pools, log, clock } = options;
  phase.close(new LeaseError('BROKER_LOST', 'The run is ending: no browser is leased any more.'));
  endHeld(options);
  const confirm = clock.after(CONFIRM_GRACE_MS, () => phase.giveUpEnds());
  const slow = clock.after(SLOW_END_MS, () => printSlowEnd(browsers, log));
  const pending = clock.after(PENDING_GRACE_MS, () => phase.giveUpResponses());
  await orders.settled();
  pending.cancel();
  // End the browsers that arrived meanwhile.
  endHeld(options);
  await allEnded(browsers);
  await endLostCreates(options);
  await allEnded(browsers);
  const late = new AbortController();
  const deleted = clock.after(DELETE_GRACE_MS, () => late.abort(new Error('not deleted in time')));
  for (const failure of await pools.deleteOwn(late.signal)) log.error('a pool of this run was not deleted', failure);
  deleted.cancel();
  confirm.cancel();
  slow.cancel();
}

function endHeld({ browsers, queue }: RunEndOptions): void {
  for (const held of browsers.held) queue.end(held, 'run-ended');
}

async function allEnded({ all }: HeldBrowsers): Promise<void> {
  await Promise.all(all.map(({ ended }) => ended));
}

function printSlowEnd(browsers: HeldBrowsers, log: Log): void {
  const { ending } = browsers;
  const what = ending.length === 1 ? `browser ${ending[0]?.browser.sessionId}` : `${ending.length} browsers`;
  if (ending.length > 0) log.momentary(`waiting for the service to confirm the end of ${what}`);
}

/**
 * Finds the sessions of creates with a lost response by the request in their notes, and starts to end them. A session
 * that is not in the list is not running; its request leaves the ledger. Call this at the end of a run, when its
 * acquired browsers have ended.
 */
async function endLostCreates({ provider, browsers, orders, log, clock, phase }: RunEndOptions): Promise<void> {
  const { doubtful } = orders;
  if (doubtful.length === 0) return;
  const { unlistedMs, limited } = provider;
  if (unlistedMs === Number.POSITIVE_INFINITY) {
    const labels = doubtful.map(({ request }) => `req=${request}`).join(', ');
    log.error(
      `whether a browser with ${labels} in its label runs is not known: its \`acquire\` had no result, and ${limited.by} has no \`list\`. Look for it there; \`npx poolwright sweep\` repeats this`,
    );
    return;
  }
  try {
    for await (const { sessionId, note } of provider.list(phase.endsOver)) {
      const request = parseNote(note)?.request;
      const account = doubtful.find((each) => each.request === request);
      if (!account || browsers.get(sessionId)) continue;
      log.info(`session ${sessionId} of an unconfirmed create is ended`);
      account.unused(unleased(sessionId));
    }
    for (const account of doubtful) if (clock.now() - account.askedAt >= unlistedMs) account.resolved();
  } catch (error) {
    log.error('could not look for sessions whose create got no response', error);
  }
}

/** The progress of a run's end: what the run stops waiting for. Each signal fires once and stays aborted. */
export class RunPhase {
  readonly #closing = new AbortController();
  readonly #responses = new AbortController();
  readonly #ends = new AbortController();

  constructor() {
    // Every pending request of the run listens to them.
    for (const { signal } of [this.#closing, this.#responses, this.#ends]) setMaxListeners(0, signal);
  }

  /** Fires when the run leases no more browsers: it ends, or no browser can come. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Fires when the run stops waiting for responses to requests for browsers. */
  get responsesOver(): AbortSignal {
    return this.#responses.signal;
  }

  /** Fires when the run stops waiting for confirmed ends. */
  get endsOver(): AbortSignal {
    return this.#ends.signal;
  }

  /** Stops leasing browsers; waiting workers get this error. The first call wins. */
  close(reason: PoolwrightError): void {
    this.#closing.abort(reason);
  }

  giveUpResponses(): void {
    this.#responses.abort(new Error('no response in time'));
  }

  giveUpEnds(): void {
    this.#ends.abort(new Error('not confirmed in time'));
  }
}
