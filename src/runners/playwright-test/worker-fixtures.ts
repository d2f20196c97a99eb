import type { BrowserType, PlaywrightWorkerOptions, TestInfo, WorkerInfo } from '@playwright/test';
import { brokerClient } from '../../broker/rpc/client.ts';
import { isRunRefused } from '../../broker/rpc/messages/refusals.ts';
import { connectPlaywright, type PlaywrightConnection } from '../../clients/playwright/connection.ts';
import { type HostedSession, hostedSessionOf } from '../../clients/shared/hosted-session.ts';
import { WorkerBrowser } from '../../clients/shared/worker-browser.ts';
import { traceTime } from '../../common/debug.ts';
import { OptionsError, withCodedName } from '../../errors.ts';
import { featureSettings } from '../../features/list.ts';
import { connectionSettings } from '../../options/lease-plan.ts';
import { printable } from '../../printable.ts';
import { redactText } from '../../redact.ts';
import { reusesContext } from './config/reused-context.ts';
import type { ContextUse, Use } from './fixture-types.ts';
import { watchLaunches } from './own-launches.ts';
import { lastMeasurably } from './recording/hook-or-test.ts';
import { brokerForWorker, suiteOf, type WorkerBrokerAddress, type WorkerProject } from './setup/worker-broker.ts';
import { testBrowser } from './test-browser.ts';
import { workerState } from './worker-state.ts';

export { hostLaunches } from './own-launches.ts';

/** The fixtures, loaded in workers that have a test for a hosted browser. */

/** The address that identifies our own `connect` call. */
const ENDPOINT = 'poolwright://leased-browser';

type ConnectOptions = PlaywrightWorkerOptions['connectOptions'];

/**
 * The worker fixture `connectOptions`. While it is active, `chromium.connect` to our own endpoint returns the leased
 * browser. Playwright's built-in `browser` fixture makes that call, without a time limit. The wait for a lease
 * therefore happens there, and not in this fixture, which has the project's test timeout.
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
    if (!isOurEndpoint(args[0])) return await original.apply(chromium, args);
    const broker = await brokerForWorker(project, workerInfo.config);
    const hosted = hostedBrowser(chromium, broker, project, workerInfo);
    // Set before the browser is ready, so that an interrupted run does not wait for it.
    state.hosted = hosted;
    try {
      const handle = testBrowser(hosted, await hosted.start());
      traceTime('worker', 'connected');
      return handle;
    } catch (error) {
      state.hosted = null;
      await hosted.close();
      // Playwright has ended a run that could not begin, but sometimes loses its message to this worker, and would wait
      // five minutes for its end.
      if (isRunRefused(error)) process.exit(1);
      throw withCodedName(error);
    }
  };
  chromium.connect = connect as BrowserType['connect'];
  const stopWatching = onClientFailure((failure) => state.recorder.clientFailed(failure));
  try {
    await use({ wsEndpoint: ENDPOINT });
    traceTime('worker', 'the browser is given back');
  } finally {
    chromium.connect = original;
    stopWatching();
    // Usually the `browser` fixture has closed it. Needed when that fixture failed half-way.
    await state.hosted?.close();
    state.hosted = null;
  }
}

function hostedBrowser(
  chromium: BrowserType,
  { address, ownProject }: WorkerBrokerAddress,
  project: WorkerProject,
  workerInfo: WorkerInfo,
): WorkerBrowser<PlaywrightConnection> {
  const { id, name, options } = project;
  const settings = connectionSettings(options, process.env, suiteOf(workerInfo));
  return new WorkerBrowser<PlaywrightConnection>({
    broker: brokerClient(address, ownProject),
    connect: (lease, events) => connectPlaywright(chromium, lease, { ...settings, ...events }),
    features: featureSettings(options, process.env),
    reuse: settings.reuse,
    project: { id, name },
    parallelIndex: workerInfo.parallelIndex,
    testTimeout: workerInfo.project.timeout,
    runningTry: () => workerState().recorder.runningTry,
    onUnreachable: (text) => workerState().recorder.addUnreachable(text),
    isInUse: (connection) => connection.isInUse(),
  });
}

/** The first argument is the address, or the options in older Playwright versions. */
function isOurEndpoint(endpoint: unknown): boolean {
  if (typeof endpoint === 'string') return endpoint === ENDPOINT;
  return (
    typeof endpoint === 'object' && endpoint !== null && 'wsEndpoint' in endpoint && endpoint.wsEndpoint === ENDPOINT
  );
}

/**
 * Runs around every test, and ends after its contexts have closed, because it is an option that Playwright's context
 * fixture needs. Passes the option's value on unchanged.
 */
export async function recordTest<T>(value: T, use: Use<T>, testInfo: TestInfo): Promise<void> {
  const { recorder, hosted } = workerState();
  const sharesContext = hosted?.current?.hasContexts() ?? false;
  // Two options call this for the same test.
  if (hosted && !recorder.isRunning(testInfo)) {
    if (sharesContext) hosted.beginSharing();
    else hosted.beginTest(testInfo.timeout);
    if (!sharesContext && reusesContext(testInfo.project.use)) await hosted.connected(testInfo.timeout);
  }
  traceTime('worker', 'a test begins');
  recorder.begin(testInfo, hosted?.current ?? null, sharesContext);
  if (sharesContext) await lastMeasurably();
  try {
    await use(value);
  } finally {
    traceTime('worker', 'a test has ended');
    const { hosted: worker } = workerState();
    // Playwright opens a reused context without the handle.
    if (worker?.current && reusesContext(testInfo.project.use)) recorder.mayHaveUsed(worker.current);
    await recorder.end(testInfo, worker?.sink ?? null, worker?.features);
    worker?.endTest(testInfo.status !== testInfo.expectedStatus);
  }
}

/**
 * Also keeps the context options of the running test, including those of `test.use`, for contexts that it opens, and
 * notes the browsers that it starts itself.
 */
export async function recordTestWith<T>(
  { chromium, contextOptions, ...options }: ContextUse & { chromium: BrowserType },
  value: T,
  use: Use<T>,
  testInfo: TestInfo,
): Promise<void> {
  workerState().contextUse = { ...options, ...contextOptions };
  watchLaunches(chromium);
  await recordTest(value, use, testInfo);
}

/** The session whose browser the running test uses. @throws OptionsError for a project on local browsers */
export async function currentSession(): Promise<HostedSession> {
  const { hosted, recorder } = workerState();
  if (!hosted) {
    const error = new OptionsError(
      'hosted',
      "`hostedSession` needs a hosted browser, but this test runs on a local one, because of `use: { hosted: false }` or `service: 'local'` (POOLWRIGHT_SERVICE). Set `service: 'emulator'`, or skip the test: `test.skip(process.env.POOLWRIGHT_SERVICE === 'local', 'needs a hosted browser')`.",
    );
    throw withCodedName(error);
  }
  const connection = await hosted.connected();
  recorder.uses(connection);
  return hostedSessionOf(connection.lease, (reason) => hosted.features.hold(connection, reason, recorder.running));
}

const FRAME = /^\s+at /;
const IN_PLAYWRIGHT = /[\\/]playwright-core[\\/]/;
const IN_NODE = /node:/;
/** Maximum length of a quoted message, in characters. */
const MAX_MESSAGE = 200;

/**
 * Describes an uncaught error that Playwright has thrown by itself, in no call of a test or fixture: it cannot handle
 * what the browser has sent, and would fail in the next test, too. Null for all other errors, whose stack has frames of
 * the test, a fixture or a hook.
 */
export function clientFailure({ message, stack = '' }: Error): string | null {
  const frames = stack.split('\n').filter((line) => FRAME.test(line));
  const isPlaywrights =
    frames.some((frame) => IN_PLAYWRIGHT.test(frame)) &&
    frames.every((frame) => IN_PLAYWRIGHT.test(frame) || IN_NODE.test(frame));
  return isPlaywrights
    ? `Playwright failed on what it sent: "${printable(redactText(message)).slice(0, MAX_MESSAGE)}"`
    : null;
}

/**
 * Watches for such errors until the returned function is called. Reads them as they are thrown, because Playwright
 * removes its own frames from the errors of a test. Playwright listens to both events, too, and fails the test.
 */
export function onClientFailure(listener: (failure: string) => void): () => void {
  const onError = (error: unknown) => {
    const failure = error instanceof Error ? clientFailure(error) : null;
    if (failure !== null) listener(failure);
  };
  process.on('unhandledRejection', onError).on('uncaughtExceptionMonitor', onError);
  return () => {
    process.off('unhandledRejection', onError).off('uncaughtExceptionMonitor', onError);
  };
}
