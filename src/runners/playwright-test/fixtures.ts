import type { BrowserType, TestInfo } from '@playwright/test';
import { OptionsError } from '../../errors.ts';
import type { ContextUse, Use } from './fixture-types.ts';

/**
 * The fixtures that run a suite on hosted browsers. The config wrapper adds them to `use`, where option fixtures may be
 * functions; the `test` of poolwright extends with them. Every process that loads the config loads this file, so the
 * implementation is imported only when a fixture runs.
 */
const load = () => import('./worker-fixtures.ts');

type Fixtures = typeof import('./worker-fixtures.ts');

/** The worker fixture `connectOptions`, which makes `browser` the leased one. */
export const provideHostedBrowser: Fixtures['provideHostedBrowser'] = async (...given) =>
  await (await load()).provideHostedBrowser(...given);

/** The worker fixture `channel`, which makes browsers hosted that tests launch themselves. */
export const hostLaunches: Fixtures['hostLaunches'] = async (...given) => await (await load()).hostLaunches(...given);

/** Records the running test. Used in two of its fixtures, see the config wrapper. */
export const recordTest: Fixtures['recordTest'] = async (...given) => await (await load()).recordTest(...given);

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
export const currentSession: Fixtures['currentSession'] = async () => await (await load()).currentSession();

/** Rejects a project that cannot run on a hosted browser, before a browser is requested. */
export function assertChromium(browserName: string, project: string): void {
  if (browserName === 'chromium') return;
  throw new OptionsError(
    'use.hosted',
    `Project "${project}" uses ${browserName}, but hosted browsers are Chromium. Set \`use: { hosted: false }\` there, or use chromium.`,
  );
}
