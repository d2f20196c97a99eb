import { once } from 'node:events';
import pTimeout from 'p-timeout';
import type { WebSocket } from 'ws';
import { untilEnded } from '../../broker/browsers/end-lease.ts';
import { type OpenLimits, openSocket } from '../../cdp/transport/open-socket.ts';
import { environmentProxy } from '../../common/dial/environment-proxy.ts';
import { errorMessage } from '../../common/error-message.ts';
import { LeaseError, PoolwrightError } from '../../errors.ts';
import type { BrowserProvider, Endable } from '../../providers/port.ts';
import { stopSignals } from '../stop.ts';
import { whatAnswers } from './what-answers.ts';

export type TriedProvider = Pick<BrowserProvider, 'acquire' | 'release'>;

/** How long a browser takes, in ms, measured on one that is created for it and stopped. */
export interface Trial {
  create: number;
  connect: number;
  /** Median of five. */
  roundTrip: number;
  /** A page, until it has evaluated an expression. */
  page: number;
  /** The proxy of the environment through which the browser was reached; null: none. */
  proxy: string | null;
}

export interface TriedSession {
  sessionId: string;
  /** The label in its request. */
  note: string;
}

/** The least a session may live, in seconds, should it not be stopped (section 8 of the service document). */
const TRIAL_SECONDS = 60;
const ROUND_TRIPS = 5;
/** Bound on the confirmation of its end, in ms. */
const END_MS = 45_000;

/**
 * Creates a session, connects to it, opens a page in it, and ends it in any case, also after Ctrl-C.
 * @param whileItRuns called when all of that has worked
 * @throws ServiceError, LeaseError `CONNECT_FAILED`, PoolwrightError `TIMEOUT`. The message names each browser whose
 * end was not confirmed
 */
export async function tryOneSession(
  provider: TriedProvider,
  timeout: number,
  whileItRuns: (session: TriedSession) => Promise<void>,
): Promise<Trial> {
  const made = new Map<string, Endable>();
  const trial = async (signal: AbortSignal) => {
    const tried = await use(provider, { made, timeout, signal, whileItRuns }).catch((error: unknown) => ({ error }));
    const left = await endAll(provider, made);
    if ('error' in tried) throw left === null ? tried.error : withLeft(tried.error, left);
    if (left !== null) throw new LeaseError('BROWSER_LOST', left);
    return tried;
  };
  return await interruptible(trial);
}

interface Use {
  /** Gets each browser that is made. */
  made: Map<string, Endable>;
  timeout: number;
  signal: AbortSignal;
  whileItRuns(session: TriedSession): Promise<void>;
}

async function use(provider: TriedProvider, { made, timeout, signal, whileItRuns }: Use): Promise<Trial> {
  const since = performance.now();
  const note = `poolwright doctor ${Date.now().toString(36)}-${process.pid}`;
  const known = (browser: Endable) => void made.set(browser.sessionId, browser);
  const acquired = await provider.acquire({
    label: note,
    session: { duration: TRIAL_SECONDS },
    project: '',
    needMs: 0,
    askedAt: Date.now(),
    repeats: true,
    signal,
    account: { known, unused: known, doubt: () => undefined, certain: () => undefined },
  });
  known(acquired);
  const create = performance.now() - since;
  const { sessionId, cdpUrl, headers, type, runsAlready } = acquired;
  const limits = { headers, sessionId, timeout };
  // Some browsers end with their connection.
  const whileConnected = async () => {
    signal.throwIfAborted();
    await whileItRuns({ sessionId, note });
  };
  const tried = await connect(cdpUrl, limits, whileConnected).catch(async (error) => {
    throw type === null ? await explained(error, { cdpUrl, sessionId, runsAlready }) : error;
  });
  return { create, ...tried };
}

/** Ends what a trial has made. Returns null when each end is confirmed; else which are not, and why. */
async function endAll(provider: TriedProvider, made: ReadonlyMap<string, Endable>): Promise<string | null> {
  const signal = AbortSignal.timeout(END_MS);
  const left = await Promise.all(
    [...made.values()].map(async (browser) => {
      const why = await untilEnded({ provider, browser, signal, reason: 'finished' });
      return why === null
        ? null
        : `Browser ${browser.sessionId} may still run: its end was not confirmed (${errorMessage(why)}).`;
    }),
  );
  const said = left.filter((text) => text !== null);
  return said.length > 0 ? said.join(' ') : null;
}

function withLeft(error: unknown, left: string): unknown {
  return error instanceof PoolwrightError ? new PoolwrightError(error.code, `${error.message} ${left}`) : error;
}

/** Lets work end what it has made when the command is interrupted, and then ends as the signal would have. */
async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupt = new AbortController();
  const signals = stopSignals(process.platform);
  let by: NodeJS.Signals | null = null;
  const onSignal = (signal: NodeJS.Signals) => {
    by = signal;
    interrupt.abort(new PoolwrightError('ABORTED', `${signal}: the trial is cancelled.`));
  };
  // A second one ends the command at once.
  for (const signal of signals) process.once(signal, onSignal);
  try {
    return await work(interrupt.signal);
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
    if (by !== null) process.kill(process.pid, by);
  }
}

/** Says what is at the address of the user's own browser instead, and what to do. */
async function explained(
  error: unknown,
  { cdpUrl, sessionId, runsAlready }: { cdpUrl: string; sessionId: string; runsAlready?: boolean | undefined },
): Promise<unknown> {
  if (!(error instanceof PoolwrightError)) return error;
  const otherwise = runsAlready ? 'Start it, or correct its address.' : 'Check the `cdpUrl` that `acquire` returns.';
  const message = `${error.message} ${(await whatAnswers(cdpUrl)) ?? otherwise}`;
  return new LeaseError('CONNECT_FAILED', message, { sessionId, cause: error });
}

async function connect(
  cdpUrl: string,
  limits: OpenLimits,
  whileConnected: () => Promise<void>,
): Promise<Omit<Trial, 'create'>> {
  const since = performance.now();
  const { socket, cut } = await openSocket(cdpUrl, limits);
  try {
    const connected = performance.now();
    const ask = asker(socket, limits);
    socket.resume();
    const trips: number[] = [];
    for (let trip = 0; trip < ROUND_TRIPS; trip += 1) {
      const asked = performance.now();
      await ask('Browser.getVersion');
      trips.push(performance.now() - asked);
    }
    trips.sort((a, b) => a - b);
    const opened = performance.now();
    await evaluate(ask, limits);
    const page = performance.now() - opened;
    await whileConnected();
    return {
      connect: connected - since,
      roundTrip: trips[Math.floor(trips.length / 2)] ?? 0,
      page,
      proxy: environmentProxy(cdpUrl)?.name ?? null,
    };
  } finally {
    socket.close();
    cut();
  }
}

type Ask = (method: string, params?: object, page?: unknown) => Promise<Record<string, unknown>>;

/** Opens a page in a separate context, as tests do, so that the browser stays unchanged. */
async function evaluate(ask: Ask, { sessionId }: OpenLimits): Promise<void> {
  const { browserContextId } = await ask('Target.createBrowserContext', { disposeOnDetach: true });
  const { targetId } = await ask('Target.createTarget', { url: 'about:blank', browserContextId });
  const { sessionId: page } = await ask('Target.attachToTarget', { targetId, flatten: true });
  const { result } = await ask('Runtime.evaluate', { expression: '6 * 7', returnByValue: true }, page);
  await ask('Target.disposeBrowserContext', { browserContextId });
  if (Object(result).value !== 42) throw failed('a page did not evaluate an expression', sessionId);
}

/** Sends one command after the other. Each resolves with its result, and rejects if the response is not CDP. */
function asker(socket: WebSocket, { timeout, sessionId }: OpenLimits): Ask {
  let last = 0;
  const closed = once(socket, 'close').then(([code]) => {
    throw failed(`it closed the connection with code ${code}`, sessionId);
  });
  closed.catch(() => undefined);
  return async (method, params = {}, page) => {
    last += 1;
    const id = last;
    const response = responseTo(socket, id, sessionId);
    socket.send(JSON.stringify({ id, method, params, ...(page !== undefined && { sessionId: page }) }));
    const message = new PoolwrightError('TIMEOUT', `The browser did not respond to ${method} within ${timeout} ms.`);
    const { result, error } = await pTimeout(Promise.race([response, closed]), { milliseconds: timeout, message });
    if (typeof result === 'object' && result !== null) return { ...result };
    const { code, message: text } = Object(error);
    if (typeof code !== 'number') throw failed(`what it responds to ${method} is not CDP`, sessionId);
    throw failed(`it responds to ${method} with the error "${text}"`, sessionId);
  };
}

/** Skips events. */
function responseTo(socket: WebSocket, id: number, sessionId: string | undefined): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const onMessage = (data: unknown) => {
      let message: Record<string, unknown>;
      try {
        message = Object(JSON.parse(String(data)));
      } catch {
        socket.off('message', onMessage);
        reject(failed('what it sends is not CDP', sessionId));
        return;
      }
      if (message.id !== id) return;
      socket.off('message', onMessage);
      resolve(message);
    };
    socket.on('message', onMessage);
  });
}

function failed(why: string, sessionId: string | undefined): LeaseError {
  const whose = sessionId === undefined ? '' : ` of session ${sessionId}`;
  return new LeaseError('CONNECT_FAILED', `The browser${whose} cannot be used: ${why}.`, { sessionId });
}
