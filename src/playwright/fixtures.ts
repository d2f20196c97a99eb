import type { BrowserType, PlaywrightWorkerOptions, TestInfo, WorkerInfo } from '@playwright/test';
import { OptionsError } from '../errors.ts';
import type { HostedSession } from '../worker/hosted-session.ts';
import type { ContextUse, Use } from './fixture-types.ts';
import type { WorkerProject } from './setup/worker-broker.ts';

/**
 * The fixtures that make a suite run on hosted browsers. The config wrapper puts them into `use` (option fixtures may be
 * functions there), `test` of poolwright extends with them: one implementation for both ways. Every process that loads
 * the config loads this file; what the fixtures do is loaded where one runs.
 */
const load = () => import('./worker-fixtures.ts');

type ConnectOptions = NonNullable<PlaywrightWorkerOptions['connectOptions']>;

/** The worker fixture `connectOptions`, which makes `browser` the leased one. */
export async function provideHostedBrowser(
  chromium: BrowserType,
  project: WorkerProject,
  use: Use<ConnectOptions>,
  workerInfo: WorkerInfo,
): Promise<void> {
  await (await load()).provideHostedBrowser(chromium, project, use, workerInfo);
}

/** Puts the running test on record, in two of its fixtures: see the config wrapper. */
export async function recordTest<T>(value: T, use: Use<T>, testInfo: TestInfo): Promise<void> {
  await (await load()).recordTest(value, use, testInfo);
}

/** The same, and keeps what `use` sets for the running test, `test.use` included, for whoever opens its contexts. */
export async function recordTestWith<T>(context: ContextUse, value: T, use: Use<T>, testInfo: TestInfo): Promise<void> {
  const { recordTest, rememberUse } = await load();
  rememberUse(context);
  await recordTest(value, use, testInfo);
}

/** The fixture `hostedSession`. @throws OptionsError for a project on local browsers */
export async function presentSession(): Promise<HostedSession> {
  return await (await load()).presentSession();
}

/** Refuses a project that cannot run on a hosted browser, before anything is asked for. */
export function assertChromium(browserName: string, project: string): void {
  if (browserName === 'chromium') return;
  throw new OptionsError(
    'use.hosted',
    `Project "${project}" uses ${browserName}, and hosted browsers are Chromium. Set \`use: { hosted: false }\` there, or use chromium.`,
  );
}
