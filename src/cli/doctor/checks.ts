import { type KnownLimits, limitsFile, rememberLimits } from '../../broker/ledger/known-limits.ts';
import { FAR_MS } from '../../cdp/figures.ts';
import { environmentProxy } from '../../common/dial/environment-proxy.ts';
import { describeChromiums, findChromiums, startEmulator } from '../../emulator/index.ts';
import { PoolwrightError, type PoolwrightErrorCode } from '../../errors.ts';
import { inContinuousIntegration, variable } from '../../options/environment.ts';
import { serviceName } from '../../options/resolve-service.ts';
import { HostedBrowsers } from '../../providers/hosted/hosted-browsers.ts';
import { findPool } from '../../providers/hosted/pools/hosted-pool.ts';
import { NEXT_STEPS } from '../../record/failures.ts';
import type { ServiceClient } from '../../service/index.ts';
import { serviceOfShell, withClient } from '../with-client.ts';
import { type TriedProvider, type TriedSession, tryOneSession } from './trial.ts';

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

export async function reach(client: ServiceClient): Promise<Finding> {
  return await finding('service and key', async () => {
    const since = performance.now();
    await client.listSessions({ pageSize: 1 }, { timeout: TIMEOUT_MS, retry: 'none' });
    return `responds and accepts the key (${ms(performance.now() - since)})`;
  });
}

export async function balance(client: ServiceClient): Promise<Finding> {
  const work = async (): Promise<Found> => {
    const { balance_cents: cents } = await client.getBalance({ timeout: TIMEOUT_MS });
    if (cents > 0) return `${cents} cents`;
    return { result: 'failed', says: `${cents} cents: no browser will start (402) until it is topped up` };
  };
  return await finding('balance', work, 'warning');
}

export async function limit(client: ServiceClient, wanted: number): Promise<Finding> {
  const work = async (): Promise<Found> => {
    const { plan } = await client.getBilling({ timeout: TIMEOUT_MS });
    const most = plan?.concurrent_browsers ?? null;
    await remember({ concurrentBrowsers: most, pools: new Map() });
    if (most === null) return { result: 'skipped', says: 'the service does not report it' };
    const text = `${most} browsers at once, ${wanted} wanted (--workers × --shards)`;
    if (wanted <= most) return text;
    return { result: 'warning', says: `${text}: some workers will wait for others to finish` };
  };
  return await finding('plan limit', work, 'warning');
}

export async function pool(client: ServiceClient, wanted: number): Promise<Finding> {
  return await finding('pool', async () => {
    const named = variable(process.env, 'POOLWRIGHT_POOL');
    if (named === undefined) return { result: 'skipped', says: 'POOLWRIGHT_POOL is not set' };
    const { name, id, status, size, ready, starting, leased, lastError } = await findPool(client, named);
    await remember({ concurrentBrowsers: null, pools: new Map([[named, size]]) });
    const error = lastError ? `, last error: ${lastError}` : '';
    const says = `${name} (${id}) is ${status}, size ${size}, ${ready ?? 0} ready, ${starting ?? 0} starting, ${leased ?? 0} leased${error}`;
    if (status !== 'ready' && status !== 'warming') return { result: 'warning', says };
    if (wanted <= size) return says;
    return { result: 'warning', says: `${says}: ${wanted} wanted, so the others wait for a browser to start` };
  });
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
      return { ...(await withClient((client) => session(new HostedBrowsers(client)), started)), check };
    } finally {
      await started.stop();
    }
  } catch (error) {
    return { check, result: 'failed', ...cause(error) };
  }
}

/**
 * One real session, or a lease of a browser that runs already: how long it takes to come, to be connected to, to
 * respond and to open a page.
 */
export async function session(
  provider: TriedProvider,
  [made, ended] = ['created', 'stopped'],
  whileItRuns: (session: TriedSession) => Promise<void> = async () => undefined,
): Promise<Finding> {
  return await finding('session', async () => {
    const { create, connect, roundTrip, page, proxy } = await tryOneSession(provider, TIMEOUT_MS, whileItRuns);
    const plain = ms(CLICK_TRIPS.plain * roundTrip);
    const hidden = `${ms(CLICK_TRIPS.ahead * roundTrip)} from here, ${plain} with \`ahead: false\``;
    const click = `a click takes about ${roundTrip < FAR_MS ? `${plain} from here` : hidden}`;
    const through = proxy === null ? '' : ` through the proxy ${proxy}`;
    return `${made} in ${ms(create)}, connected in ${ms(connect)}${through}, ${ms(roundTrip)} a round trip (${click}), a page in ${ms(page)}, ${ended}`;
  });
}

/** What a check says: all is well, or its result. */
type Found = string | Pick<Finding, 'result' | 'says'>;

/** @param otherwise the result if `work` fails */
export async function finding(
  check: string,
  work: () => Promise<Found>,
  otherwise: 'failed' | 'warning' = 'failed',
): Promise<Finding> {
  try {
    const found = await work();
    return { check, ...(typeof found === 'string' ? { result: 'ok', says: found } : found) };
  } catch (error) {
    return { check, result: otherwise, ...cause(error) };
  }
}

/** A caught error, for people and for programs. */
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
