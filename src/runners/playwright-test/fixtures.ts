import type { BrowserType, PlaywrightWorkerOptions, TestInfo, WorkerInfo } from '@playwright/test';
import type { HostedSession } from '../../clients/shared/hosted-session.ts';
import { OptionsError } from '../../errors.ts';
import type { ContextUse, Use } from './fixture-types.ts';
import type { LaunchUse } from './own-launches.ts';
import type { WorkerProject } from './setup/worker-broker.ts';

/**
 * The fixtures that run a suite on hosted browsers. The config wrapper adds them to `use`, where option fixtures may be
 * functions; the `test` of poolwright extends with them. Every process that loads the config loads this file, so the
 * implementation is imported only when a fixture runs.
 */
const load = () => import('./worker-fixtures.ts');

type ConnectOptions = PlaywrightWorkerOptions['connectOptions'];

/** The worker fixture `connectOptions`, which makes `browser` the leased one. */
export async function provideHostedBrowser(
  chromium: BrowserType,
  project: WorkerProject,
  use: Use<ConnectOptions>,
  workerInfo: WorkerInfo,
): Promise<void> {
  await (await load()).provideHostedBrowser(chromium, project, use, workerInfo);
}

/** The worker fixture `channel`, which makes browsers hosted that tests launch themselves. */
export async function hostLaunches(
  launches: LaunchUse,
  project: WorkerProject,
  use: Use<string | undefined>,
  workerInfo: WorkerInfo,
): Promise<void> {
  await (await load()).hostLaunches(launches, project, use, workerInfo);
}

/** Records the running test. Used in two of its fixtures, see the config wrapper. */
export async function recordTest<T>(value: T, use: Use<T>, testInfo: TestInfo): Promise<void> {
  await (await load()).recordTest(value, use, testInfo);
}

/** Also keeps the context options of the running test, including those of `test.use`, for contexts that it opens. */
export async function recordTestWith<T>(
  { chromium, ...context }: ContextUse & { chromium: BrowserType },
  value: T,
  use: Use<T>,
  testInfo: TestInfo,
): Promise<void> {
  const { recordTest, rememberUse } = await load();
  rememberUse(context, chromium);
  await recordTest(value, use, testInfo);
}

/** The fixture `hostedSession`. @throws OptionsError for a project on local browsers */
export async function currentSession(): Promise<HostedSession> {
  return await (await load()).currentSession();
}

/** Rejects a project that cannot run on a hosted browser, before a browser is requested. */
export function assertChromium(browserName: string, project: string): void {
  if (browserName === 'chromium') return;
  throw new OptionsError(
    'use.hosted',
    `Project "${project}" uses ${browserName}, but hosted browsers are Chromium. Set \`use: { hosted: false }\` there, or use chromium.`,
  );
}
