import type {
  PlaywrightTestConfig,
  PlaywrightTestOptions,
  PlaywrightWorkerOptions,
  ReporterDescription,
  TestInfo,
  WorkerInfo,
} from '@playwright/test';
import { distFile } from '../../common/dist-file.ts';
import { traceTime } from '../../common/time-trace.ts';
import { OptionsError } from '../../errors.ts';
import { contextMode, hasOwnState } from '../../options/context-mode.ts';
import { DEFAULTS } from '../../options/defaults.ts';
import { exposedNetwork } from '../../options/expose-network.ts';
import { keepsIdentity } from '../../options/identity.ts';
import { type MergedOptions, mergeOptions, poolOf } from '../../options/lease-plan.ts';
import { projectIds } from '../../options/project-ids.ts';
import { serviceName } from '../../options/resolve-service.ts';
import type { Budget } from '../../options/schema/budget.ts';
import { parseHostedOptions, parseProjectOptions } from '../../options/schema/parse.ts';
import type { HostedOptions, ProjectHostedOptions } from '../../options/schema/schema.ts';
import { assertPersistent } from '../browser/context-options.ts';
import type { ContextUse } from '../fixture-types.ts';
import { provideHostedBrowser, recordTest, recordTestWith } from '../fixtures.ts';
import { hasRunBegun, type WorkerProject } from '../setup/worker-broker.ts';
import { startBrokerEarly } from './early-broker.ts';
import { markMerged } from './merged-options.ts';

import { assertReusable } from './reused-context.ts';
import { rememberLocalRun, rememberRun, type WrappedProject } from './run-registry.ts';

/** What `use` may say about hosted browsers; `false` keeps a project on a local browser. */
export interface HostedUse {
  /** Options of the project, over those of the run; `false`: a local browser. */
  hosted?: ProjectHostedOptions | false;
}

// biome-ignore lint/complexity/noBannedTypes: Playwright's own default for "no further fixtures"
type NoFixtures = {};
type Config<T, W> = PlaywrightTestConfig<T, W & HostedUse>;
type Use = NonNullable<PlaywrightTestConfig['use']> &
  HostedUse &
  Partial<PlaywrightTestOptions & PlaywrightWorkerOptions>;
type Project = { name?: string; use?: Use; dependencies?: string[]; teardown?: string };
type Given<K extends keyof PlaywrightTestOptions> = Pick<PlaywrightTestOptions, K>;
type Provide = (value: unknown) => Promise<void>;

/** How a user names our reporter. */
const OWN_REPORTER = 'poolwright/reporter';
const WHERE = 'withHostedBrowsers(config, options)';
const WRAPPED = Symbol.for('poolwright.wrapped');

/**
 * Lets the suite of this config run on hosted browsers; its test files stay as they are. Returns a new config that has
 * everything the given one has, plus fixtures, one global setup and one reporter; wrapping twice changes nothing. With
 * `service: 'local'` the given one comes back as it is.
 *
 * @param config Playwright's config. `use.hosted`, also of a project, goes over `options`; `false` means a local browser.
 * @throws OptionsError for an unknown or wrong option, with its path and the nearest known one.
 */
export function withHostedBrowsers<T = NoFixtures, W = NoFixtures>(
  config: Config<T, W>,
  options: HostedOptions = {},
): Config<T, W> {
  if (WRAPPED in config) return config;
  if (staysLocal(options)) {
    rememberLocalRun();
    return config;
  }
  const common = (config.use ?? {}) as Use;
  const projects = config.projects as Project[] | undefined;
  const isWorker = hasRunBegun();
  traceTime(isWorker ? 'worker' : 'runner', 'the config is being read');
  if (!isWorker) {
    const all = projects ?? [{ use: common }];
    const early = all.map(({ name = '', use = {}, ...rest }) => ({
      ...rest,
      name,
      isLocal: staysOnLocal(common, use),
    }));
    startBrokerEarly(early, process.argv);
  }
  // A worker's runner has checked the same.
  const run = isWorker ? options : parseHostedOptions(options, WHERE);

  const hosted: WrappedProject[] = [];
  const wrapUse = (use: Use, name: string, id: string): Use => {
    const merged = projectOptions(run, common, use, name);
    if (merged === null) return { ...use, hosted: false };
    if (!isWorker) assertSuitable(merged, { ...common, ...use }, name ? `projects["${name}"].use` : 'use');
    const exposeNetwork = exposedNetwork(merged.exposeNetwork, {
      baseURL: use.baseURL ?? common.baseURL,
      webServer: config.webServer,
    });
    // Workers know the `baseURL` that Playwright derives from a server's port, but not a list of servers.
    const options = { ...merged, exposeNetwork };
    hosted.push({ id, name, options });
    return hostedUse({ id, name, options, wrapped: true }, common, use);
  };

  const ids = projectIds((projects ?? []).map(({ name = '' }) => name));
  const wrapped = projects
    ? {
        ...config,
        use: { ...common, hosted: undefined }, // every project has its own
        projects: projects.map((project, n) => ({
          ...project,
          use: wrapUse(project.use ?? {}, project.name ?? '', ids[n] ?? ''),
        })),
      }
    : { ...config, use: wrapUse(common, '', '') };
  const { globalSetup, single } = withGlobalSetup(config.globalSetup);
  rememberRun({ options: run, hosted, userGlobalSetup: single });
  return {
    ...wrapped,
    globalSetup,
    reporter: withReporter(config.reporter, run.budget),
    [WRAPPED]: true,
  } as unknown as Config<T, W>; // the parts are the given config's own; TypeScript cannot see through the spread
}

/** Whether the run is left to Playwright. A worker's runner has decided and checked the same. @throws OptionsError */
function staysLocal(options: HostedOptions): boolean {
  if (hasRunBegun()) return false;
  if (serviceName(options ?? {}, process.env) !== 'local') return false;
  if (process.env.TEST_WORKER_INDEX === undefined) parseHostedOptions(options, WHERE);
  return true;
}

/**
 * Refuses what the project's browsers cannot do, as far as it is known: a pool's template is not, and what it cannot do is
 * said where a context is opened.
 * @throws OptionsError
 */
function assertSuitable(options: MergedOptions, use: Use, where: string): void {
  const session = poolOf(options, process.env) === null ? (options.session ?? {}) : {};
  const { persistent } = contextMode(options.context ?? DEFAULTS.context, hasOwnState(session));
  if (persistent) assertPersistent(use, where);
  const isKept = keepsIdentity(options.identity, session.type ?? 'hosted');
  assertReusable(use, { persistent, keepsIdentity: isKept }, where);
}

/** What a project says of hosted browsers itself. */
function ownHosted(common: Use, use: Use): Use['hosted'] {
  return use === common ? undefined : use.hosted;
}

/** Whether a project's browsers are Playwright's own: a Firefox or WebKit project of a mixed suite stays what it is. */
function staysOnLocal(common: Use, use: Use): boolean {
  const own = ownHosted(common, use);
  return (own ?? common.hosted) === false || (!own && browserOf(common, use) !== 'chromium');
}

function browserOf(common: Use, use: Use): string {
  return use.browserName ?? common.browserName ?? use.defaultBrowserType ?? common.defaultBrowserType ?? 'chromium';
}

/** The options of one project; null when it stays local. */
function projectOptions(run: HostedOptions, common: Use, use: Use, name: string): MergedOptions | null {
  if (staysOnLocal(common, use)) return null;
  const own = ownHosted(common, use);
  const where = (scope: string) => `${scope}use.hosted`;
  let merged: MergedOptions = run;
  if (common.hosted) merged = mergeOptions(merged, parseProjectOptions(common.hosted, where('')));
  if (own)
    merged = mergeOptions(merged, parseProjectOptions(own, where(name ? `projects["${name}"].` : 'projects[].')));

  const browserName = browserOf(common, use);
  if (browserName !== 'chromium') {
    throw new OptionsError(
      where(`projects["${name}"].`),
      `Project "${name}" sets \`use.hosted\` and runs on ${browserName}, but hosted browsers are Chromium. Set \`hosted: false\`, or use chromium.`,
    );
  }
  if (use.connectOptions ?? common.connectOptions) {
    throw new OptionsError(
      'use.connectOptions',
      `${name ? `Project "${name}"` : 'The config'} sets \`use.connectOptions\`, which means another remote browser. Remove it, or set \`use: { hosted: false }\` for that project.`,
    );
  }
  return merged;
}

/** `use` with the fixtures in it. Option fixtures may be functions; Playwright's types know them as plain values. */
function hostedUse(project: WorkerProject, common: Use, use: Use): Use {
  const fixtures = {
    hosted: markMerged(project.options),
    connectOptions: async (
      { playwright }: { playwright: { chromium: Parameters<typeof provideHostedBrowser>[0] } },
      provide: Parameters<typeof provideHostedBrowser>[2],
      workerInfo: WorkerInfo,
    ) => await provideHostedBrowser(playwright.chromium, project, provide, workerInfo),
    // Two options that Playwright asks for around every test: a file that sets one of them with `test.use` replaces
    // that one, and the other still puts its tests on record.
    contextOptions: async ({ contextOptions }: Given<'contextOptions'>, provide: Provide, testInfo: TestInfo) =>
      await recordTest(use.contextOptions ?? common.contextOptions ?? contextOptions, provide, testInfo),
    // Most of these have their default from `contextOptions`, so that one cannot ask for them.
    serviceWorkers: async (
      {
        serviceWorkers,
        contextOptions,
        colorScheme,
        deviceScaleFactor,
        hasTouch,
        httpCredentials,
        isMobile,
        locale,
        timezoneId,
        userAgent,
        viewport,
      }: ContextUse & Given<'serviceWorkers'>,
      provide: Provide,
      testInfo: TestInfo,
    ) => {
      const emulation = { colorScheme, deviceScaleFactor, hasTouch, isMobile, locale, timezoneId, userAgent, viewport };
      const context = { ...emulation, httpCredentials, contextOptions };
      await recordTestWith(context, use.serviceWorkers ?? common.serviceWorkers ?? serviceWorkers, provide, testInfo);
    },
  };
  return { ...use, ...fixtures } as unknown as Use;
}

/**
 * Our global setup beside the user's. Playwright takes several since 1.49: a user who has a list has such a version,
 * and ours goes first, so that it ends last. A single one is run by ours, which works on every version.
 */
function withGlobalSetup(theirs: PlaywrightTestConfig['globalSetup']) {
  const ours = distFile('global-setup.cjs');
  if (Array.isArray(theirs)) return { globalSetup: [ours, ...theirs], single: undefined };
  return { globalSetup: ours, single: theirs };
}

/** Ours first, so that its summary comes before the others' last words; one that the user has named already is kept. */
function withReporter(reporter: PlaywrightTestConfig['reporter'], budget: Budget | undefined): ReporterDescription[] {
  const theirs: readonly ReporterDescription[] =
    typeof reporter === 'string'
      ? [[reporter] as ReporterDescription]
      : (reporter ?? [[process.env.CI ? 'dot' : 'list']]); // Playwright's own default
  const named = theirs.find(([name]) => name === OWN_REPORTER);
  const options: unknown = named?.[1];
  const ours: ReporterDescription = [
    distFile('reporter.cjs'),
    { ...(budget && { budget }), ...(typeof options === 'object' ? options : {}) },
  ];
  return [ours, ...theirs.filter((one) => one !== named)];
}
