import { once } from 'node:events';
import pTimeout from 'p-timeout';
import type { RunClient } from '../../broker/browsers/browser-service.ts';
import { type KnownLimits, limitsFile, rememberLimits } from '../../broker/ledger/known-limits.ts';
import { findPool } from '../../broker/pools/find-pool.ts';
import { FAR_MS } from '../../cdp/figures/savings.ts';
import { type OpenLimits, openSocket } from '../../cdp/transport/open-socket.ts';
import { environmentProxy } from '../../common/dial/environment-proxy.ts';
import { describeChromiums, findChromiums, startEmulator } from '../../emulator/index.ts';
import { LeaseError, PoolwrightError, type PoolwrightErrorCode } from '../../errors.ts';
import { inContinuousIntegration, variable } from '../../options/environment.ts';
import { serviceName } from '../../options/resolve-service.ts';
import { type OwnBrowsers, openProvider } from '../../providers/open-provider.ts';
import { NEXT_STEPS } from '../../record/failures.ts';
import type { ServiceClient } from '../../service/index.ts';
import { serviceOfShell, withClient } from '../with-client.ts';

/** The result of one check. `warning`: runs work, but not as well as they could. */
export interface Finding {
  check: string;
  result: 'ok' | 'warning' | 'failed' | 'skipped';
  says: string;
  /** Of a failure: its code, and the next step. */
  code?: PoolwrightErrorCode;
  next?: string;
  /** Of the check `versions`: null where something is not installed. */
  versions?: Record<string, string | null>;
}

/** Round trips of a click, one after the other, all of them and as many as `ahead` leaves: docs/distance.md. */
const CLICK_TRIPS = { plain: 10, ahead: 5 };
/** Bound on one question, in ms. */
const TIMEOUT_MS = 15_000;

/** The emulator's browser; without it only runs on the emulator fail. */
export async function chromium(): Promise<Finding> {
  return await finding(
    'Chromium of the emulator',
    async () => describeChromiums(await findChromiums()).join('; '),
    'warning',
  );
}

export function variables(): Finding {
  const check = 'variables';
  try {
    if (serviceName({}, process.env) === 'emulator') {
      return { check, result: 'skipped', says: 'POOLWRIGHT_SERVICE is emulator: checking that instead' };
    }
    const { baseURL } = serviceOfShell();
    const proxy = environmentProxy(baseURL);
    return {
      check,
      result: 'ok',
      says: `POOLWRIGHT_BASE_URL is ${new URL(baseURL).origin}${proxy ? ` (through the proxy ${proxy.name})` : ''}, POOLWRIGHT_API_KEY is set`,
    };
  } catch (error) {
    // As a run decides it: where it is chosen; else without a key, and outside of CI.
    const alone = variable(process.env, 'POOLWRIGHT_API_KEY') === undefined && !inContinuousIntegration(process.env);
    const more = alone ? '. Without a key, runs use the emulator on this machine: checking that instead' : '';
    return { check, result: alone ? 'skipped' : 'failed', ...cause(error), says: `${textOf(error)}${more}` };
  }
}

/** The user's own browsers: which do not answer, and what one of them takes. */
export async function ownBrowsers(
  own: OwnBrowsers,
  tried: (trial: () => Promise<Finding>) => Promise<Finding>,
): Promise<Finding[]> {
  const notes: string[] = [];
  let client: SessionMaker | null = null;
  let missing: Finding[] = [];
  const answer = await finding('browsers', async () => {
    const opened = await openProvider(own, (text) => notes.push(text));
    await opened.listSessions();
    client = opened;
    if (own.kind === 'provider') missing = opened.lacks.map(lackOf);
    if (notes.length > 0) return notes.join('; ');
    return own.kind === 'browsers' ? `${own.browsers.length} of POOLWRIGHT_CDP_URL` : `those of ${own.file}`;
  });
  if (client === null) return [answer];
  const maker: SessionMaker = client;
  const one = await tried(() => session(maker, ['leased', 'released']));
  return [{ ...answer, result: notes.length > 0 ? 'warning' : 'ok' }, ...missing, one];
}

function lackOf(call: keyof typeof COSTS): Finding {
  return { check: call, result: 'warning', says: `the provider has no \`${call}\`: ${COSTS[call]}` };
}

/** What runs go without where a provider lacks a function. */
const COSTS = {
  list: 'after a crash of this machine, and after a lost response, browsers may be left',
  usage: 'reports have no bandwidth by the service',
  limit: 'workers are not warned when they are more than browsers may run',
};

export async function reach(client: ServiceClient): Promise<Finding> {
  return await finding('service and key', async () => {
    const since = performance.now();
    await client.listSessions({ pageSize: 1 }, { timeout: TIMEOUT_MS, retry: 'none' });
    return `responds and accepts the key (${ms(performance.now() - since)})`;
  });
}

export async function balance(client: ServiceClient): Promise<Finding> {
  const check = 'balance';
  try {
    const { balance_cents: cents } = await client.getBalance({ timeout: TIMEOUT_MS });
    if (cents > 0) return { check, result: 'ok', says: `${cents} cents` };
    return { check, result: 'failed', says: `${cents} cents: no browser will start (402) until it is topped up` };
  } catch (error) {
    return { check, result: 'warning', ...cause(error) };
  }
}

export async function limit(client: ServiceClient, wanted: number): Promise<Finding> {
  const check = 'plan limit';
  try {
    const { plan } = await client.getBilling({ timeout: TIMEOUT_MS });
    const most = plan?.concurrent_browsers ?? null;
    await remember({ concurrentBrowsers: most, pools: new Map() });
    if (most === null) return { check, result: 'skipped', says: 'the service does not report it' };
    const text = `${most} browsers at once, ${wanted} wanted (--workers × --shards)`;
    return wanted <= most
      ? { check, result: 'ok', says: text }
      : { check, result: 'warning', says: `${text}: some workers will wait for others to finish` };
  } catch (error) {
    return { check, result: 'warning', ...cause(error) };
  }
}

export async function pool(client: ServiceClient, wanted: number): Promise<Finding> {
  const check = 'pool';
  const named = variable(process.env, 'POOLWRIGHT_POOL');
  if (named === undefined) return { check, result: 'skipped', says: 'POOLWRIGHT_POOL is not set' };
  try {
    const { name, id, status, size, ready, starting, leased, lastError } = await findPool(client, named);
    await remember({ concurrentBrowsers: null, pools: new Map([[named, size]]) });
    const error = lastError ? `, last error: ${lastError}` : '';
    const says = `${name} (${id}) is ${status}, size ${size}, ${ready ?? 0} ready, ${starting ?? 0} starting, ${leased ?? 0} leased${error}`;
    const good = status === 'ready' || status === 'warming';
    if (!good) return { check, result: 'warning', says };
    return wanted <= size
      ? { check, result: 'ok', says }
      : { check, result: 'warning', says: `${says}: ${wanted} wanted, so the others wait for a browser to start` };
  } catch (error) {
    return { check, result: 'failed', ...cause(error) };
  }
}

/** For the runs of this project, which choose their number of workers by it. */
async function remember(learned: KnownLimits): Promise<void> {
  await rememberLimits(limitsFile(process.cwd(), serviceOfShell()), learned);
}

/** The emulator on this machine: whether it starts, and gives a session. */
export async function emulator(): Promise<Finding> {
  const check = 'emulator';
  try {
    const started = await startEmulator();
    try {
      return { ...(await withClient(session, started)), check };
    } finally {
      await started.stop();
    }
  } catch (error) {
    return { check, result: 'failed', ...cause(error) };
  }
}

/**
 * One real session, or a lease of a browser that runs already: how long it takes to come, to be connected to and to
 * respond.
 */
export async function session(client: SessionMaker, [made, ended] = ['created', 'stopped']): Promise<Finding> {
  return await finding('session', async () => {
    const { create, connect, roundTrip, proxy } = await tryOneSession(client, TIMEOUT_MS);
    const plain = ms(CLICK_TRIPS.plain * roundTrip);
    const hidden = `${ms(CLICK_TRIPS.ahead * roundTrip)} from here, ${plain} with \`ahead: false\``;
    const click = `a click takes about ${roundTrip < FAR_MS ? `${plain} from here` : hidden}`;
    return `${made} in ${ms(create)}, connected in ${ms(connect)}${proxy === null ? '' : ` through the proxy ${proxy}`}, ${ms(roundTrip)} a round trip (${click}), ${ended}`;
  });
}

async function finding(
  check: string,
  work: () => Promise<string>,
  otherwise: 'failed' | 'warning' = 'failed',
): Promise<Finding> {
  try {
    return { check, result: 'ok', says: await work() };
  } catch (error) {
    return { check, result: otherwise, ...cause(error) };
  }
}

/** What a caught error says, for people and for programs. */
function cause(error: unknown): Pick<Finding, 'says' | 'code' | 'next'> {
  const says = textOf(error);
  return error instanceof PoolwrightError ? { says, code: error.code, next: NEXT_STEPS[error.code] } : { says };
}

/** The message, which holds no secret, in one line. */
function textOf(error: unknown): string {
  return (error instanceof PoolwrightError ? error.message : String(error)).replace(/\s*\n\s*/g, ' ');
}

function ms(duration: number): string {
  return `${Math.round(duration)} ms`;
}

type SessionMaker = Pick<RunClient, 'createSession' | 'stopSession'>;

/** How long a hosted browser takes, in ms, measured on one that is created for it and stopped. */
interface Trial {
  create: number;
  connect: number;
  /** Median of five. */
  roundTrip: number;
  /** The proxy of the environment through which the browser was reached; null: none. */
  proxy: string | null;
}

/** The least a session may live, in seconds, should it not be stopped (section 8 of the service document). */
const TRIAL_SECONDS = 60;
const ROUND_TRIPS = 5;

/** @throws ServiceError, LeaseError `CONNECT_FAILED`; the session is stopped in any case */
async function tryOneSession(client: SessionMaker, timeout: number): Promise<Trial> {
  const since = performance.now();
  const note = `poolwright doctor ${Date.now().toString(36)}-${process.pid}`;
  const { sessionId, cdpUrl, own } = await client.createSession({ duration: TRIAL_SECONDS, note });
  const create = performance.now() - since;
  try {
    if (!cdpUrl) throw new LeaseError('CONNECT_FAILED', `Session ${sessionId} has no CDP address.`, { sessionId });
    return { create, ...(await connect(cdpUrl, { headers: own?.headers, sessionId, timeout })) };
  } finally {
    await client.stopSession(sessionId);
  }
}

async function connect(cdpUrl: string, limits: OpenLimits): Promise<Omit<Trial, 'create'>> {
  const { timeout } = limits;
  const since = performance.now();
  const { socket, cut } = await openSocket(cdpUrl, limits);
  try {
    const connected = performance.now() - since;
    socket.resume();
    const trips: number[] = [];
    for (let id = 1; id <= ROUND_TRIPS; id += 1) {
      const asked = performance.now();
      const message = new PoolwrightError('TIMEOUT', `The browser did not respond within ${timeout} ms.`);
      const responded = pTimeout(once(socket, 'message'), { milliseconds: timeout, message });
      socket.send(JSON.stringify({ id, method: 'Browser.getVersion' }));
      await responded;
      trips.push(performance.now() - asked);
    }
    trips.sort((a, b) => a - b);
    const proxy = environmentProxy(cdpUrl)?.name ?? null;
    return { connect: connected, roundTrip: trips[Math.floor(trips.length / 2)] ?? 0, proxy };
  } finally {
    socket.close();
    cut();
  }
}
