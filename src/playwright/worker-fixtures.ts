import { setTimeout as delay } from 'node:timers/promises';
import type { BrowserType, PlaywrightWorkerOptions, TestInfo, WorkerInfo } from '@playwright/test';
import { traceTime } from '../common/time-trace.ts';
import { OptionsError, type PoolwrightError } from '../errors.ts';
import { DEFAULTS } from '../options/defaults.ts';
import { exposedNetwork } from '../options/expose-network.ts';
import { BrokerClient } from '../worker/broker-client.ts';
import { type HostedSession, hostedSessionOf } from '../worker/hosted-session.ts';
import { linkSettings } from '../worker/link/link-settings.ts';
import { WorkerBrowser } from '../worker/worker-browser.ts';
import { type BrowserConnection, connectToLease } from './browser/browser-connection.ts';
import { browserHandle } from './browser/browser-handle.ts';
import { reusesContext } from './config/reused-context.ts';
import type { ContextUse, Use } from './fixture-types.ts';
import { brokerForWorker, type WorkerBrokerAddress, type WorkerProject } from './setup/worker-broker.ts';
import { workerState } from './worker-state.ts';

/** What the fixtures do (see `fixtures.ts`, which loads this in a worker that has a test for a hosted browser). */

/** Least time of a test, in ms, for its `duration` not to be zero. */
const TICK_MS = 2;

/** What marks the one `connect` call that is ours. */
const ENDPOINT = 'poolwright://leased-browser';

type ConnectOptions = NonNullable<PlaywrightWorkerOptions['connectOptions']>;

/**
 * The worker fixture `connectOptions`: while it lives, `chromium.connect` to our own endpoint returns the leased
 * browser. Playwright's built-in `browser` fixture makes that call, without a time limit of its own, so the waiting
 * for a lease happens there and not in this fixture, which has the project's test timeout.
 */
export async function provideHostedBrowser(
  chromium: BrowserType,
  project: WorkerProject,
  use: Use<ConnectOptions>,
  workerInfo: WorkerInfo,
): Promise<void> {
  traceTime('worker', 'its first test on a hosted browser');
  const state = workerState();
  const original = chromium.connect;
  const connect = async (...args: Parameters<BrowserType['connect']>) => {
    if (!meansUs(args[0])) return await original.apply(chromium, args);
    const broker = await brokerForWorker(project, workerInfo.config);
    const hosted = workerBrowser(chromium, broker, project, workerInfo);
    // Before it has a browser: who interrupts the run does not wait for one.
    state.hosted = hosted;
    try {
      const handle = browserHandle(hosted, await hosted.start());
      traceTime('worker', 'connected');
      return handle;
    } catch (error) {
      state.hosted = null;
      await hosted.close();
      throw error;
    }
  };
  chromium.connect = connect as BrowserType['connect'];
  try {
    await use({ wsEndpoint: ENDPOINT });
    traceTime('worker', 'the browser is let go');
  } finally {
    chromium.connect = original;
    // Normally the `browser` fixture has closed it; here when that fixture failed half-way.
    await state.hosted?.close();
    state.hosted = null;
  }
}

function workerBrowser(
  chromium: BrowserType,
  { address, ownProject }: WorkerBrokerAddress,
  { id, name, options }: WorkerProject,
  { project, config, parallelIndex }: WorkerInfo,
): WorkerBrowser<BrowserConnection> {
  const exposeNetwork = exposedNetwork(options.exposeNetwork, {
    // The second one is how Playwright hands on the address of a `webServer` that names a port.
    baseURL: project.use.baseURL ?? process.env.PLAYWRIGHT_TEST_BASE_URL,
    webServer: config.webServer,
  });
  const settings = {
    ...linkSettings(options, exposeNetwork, process.env),
    onUnreached: (text: string) => workerState().recorder.unreached(text),
  };
  return new WorkerBrowser({
    broker: new BrokerClient(address, ownProject),
    connect: (lease, events) => connectToLease(chromium, lease, { ...settings, ...events }),
    reuse: options.reuse ?? DEFAULTS.reuse,
    project: { id, name },
    parallelIndex,
    testTimeout: project.timeout,
    runningTry: () => workerState().recorder.runningTry,
  });
}

/** The first argument is the options (older Playwright) or the address. */
function meansUs(endpoint: unknown): boolean {
  if (typeof endpoint === 'string') return endpoint === ENDPOINT;
  return (
    typeof endpoint === 'object' && endpoint !== null && 'wsEndpoint' in endpoint && endpoint.wsEndpoint === ENDPOINT
  );
}

/**
 * Around every test, and torn down after its contexts have closed: an option that Playwright's context needs, which it
 * sets up for each test and hook. The option's value is passed on as it is.
 */
export async function recordTest<T>(value: T, use: Use<T>, testInfo: TestInfo): Promise<void> {
  const { recorder, hosted } = workerState();
  const inUse = isInUse(hosted?.present);
  // Two options bring a test here, each for itself.
  if (hosted && !recorder.isRunning(testInfo)) {
    if (inUse) hosted.beginSharing();
    else hosted.beginTest(testInfo.timeout);
    if (!inUse && reusesContext(testInfo.project.use)) await hosted.connected(testInfo.timeout);
  }
  traceTime('worker', 'a test begins');
  recorder.begin(testInfo, hosted?.present ?? null, inUse);
  // One that opens no context of its own may be over at once, and would look like a hook to the recorder.
  if (inUse) await delay(TICK_MS);
  let lost: PoolwrightError | null = null;
  try {
    await use(value);
  } finally {
    traceTime('worker', 'a test has ended');
    const present = workerState().hosted;
    // Playwright opens the one that it reuses past the handle.
    if (present?.present && reusesContext(testInfo.project.use)) recorder.mayHaveUsed(present.present);
    if (present) present.lastTestFailed = testInfo.status !== testInfo.expectedStatus;
    lost = await recorder.end(testInfo, present?.sink ?? null);
  }
  if (lost) throw lost;
}

/** Whether contexts are open, such as that of a page that the tests of a file share. */
function isInUse(link: BrowserConnection | null | undefined): boolean {
  return (link?.browser.contexts() ?? []).some((context) => context !== link?.defaultContext);
}

/** Keeps what `use` sets for the running test, `test.use` included, for whoever opens its contexts. */
export function rememberUse({ contextOptions, ...options }: ContextUse): void {
  workerState().contextUse = { ...options, ...contextOptions };
}

/** The session that serves the running test. @throws OptionsError for a project on local browsers */
export async function presentSession(): Promise<HostedSession> {
  const { hosted, recorder } = workerState();
  if (!hosted) {
    throw new OptionsError(
      'hosted',
      "`hostedSession` needs a hosted browser, and this test runs on a local one: `use: { hosted: false }`, or `service: 'local'` (POOLWRIGHT_SERVICE). Choose `service: 'emulator'`, or skip it there: `test.skip(process.env.POOLWRIGHT_SERVICE === 'local', 'needs a hosted browser')`.",
    );
  }
  const link = await hosted.connected();
  recorder.uses(link);
  return hostedSessionOf(link.lease);
}
