import { createRequire } from 'node:module';
import type {
  BrowserType,
  PlaywrightTestConfig,
  PlaywrightTestOptions,
  PlaywrightWorkerOptions,
  ReporterDescription,
  TestInfo,
  WorkerInfo,
} from '@playwright/test';
import { sharedBrokerOf } from '../../broker/rpc/shared-broker.ts';
import { spawnBrokerEarly } from '../../broker/start/spawn-broker.ts';
import { assertPersistent } from '../../clients/playwright/context-options.ts';
import { traceTime } from '../../common/debug.ts';
import { distFile } from '../../common/dist-file.ts';
import { shownOptions } from '../../common/text/shown-fields.ts';
import { OptionsError } from '../../errors.ts';
import { contextMode, hasOwnState } from '../../options/context-mode.ts';
import { DEFAULTS } from '../../options/defaults.ts';
import { exposedNetwork } from '../../options/expose-network.ts';
import { keepsIdentity } from '../../options/identity.ts';
import { type MergedOptions, mergeOptions, poolOf } from '../../options/lease-plan.ts';
import { projectIds } from '../../options/project-ids.ts';
import { rememberOptions } from '../../options/reporter-options.ts';
import { serviceName } from '../../options/resolve-service.ts';
import { parseHostedOptions, parseProjectOptions } from '../../options/schema/parse.ts';
import type { HostedOptions, ProjectHostedOptions } from '../../options/schema/schema.ts';
import { assertNoEvidence } from '../../options/schema/without-effect.ts';
import { markMerged } from './config/merged-options.ts';
import { isPlainRun } from './config/plain-run.ts';
import { assertReusable, commonUse } from './config/reused-context.ts';
import { rememberLocalRun, rememberRun, type WrappedProject } from './config/run-registry.ts';
import type { ContextUse } from './fixture-types.ts';
import { selectionOf } from './setup/selected-projects.ts';
import { hasRunBegun, type WorkerProject } from './setup/worker-broker.ts';

/** The part of `use` about hosted browsers; `false` keeps a project on a local browser. */
export interface HostedUse {
  /** Options of the project, which override those of the run; `false`: a local browser. */
  hosted?: ProjectHostedOptions | false;
}

/** A config without further fixtures. */
// biome-ignore lint/complexity/noBannedTypes: Playwright's own default for "no further fixtures"
type NoFixtures = {};
/** Playwright's config, with `use.hosted`. */
type Config<T, W> = PlaywrightTestConfig<T, W & HostedUse>;
type Use = NonNullable<PlaywrightTestConfig['use']> &
  HostedUse &
  Partial<PlaywrightTestOptions & PlaywrightWorkerOptions>;
interface Project {
  name?: string;
  use?: Use;
  dependencies?: string[];
  teardown?: string;
  default?: boolean;
  workers?: number | string;
}
type Given<K extends keyof PlaywrightTestOptions> = Pick<PlaywrightTestOptions, K>;
type Provide = (value: unknown) => Promise<void>;
type LaunchFixtures = Pick<PlaywrightWorkerOptions, 'channel' | 'launchOptions'> & {
  playwright: { chromium: BrowserType };
};

/** Loaded when a fixture runs: every process that loads the config loads this file. */
const loadFixtures = () => import('./worker-fixtures.ts');

/** Playwright's own number of workers, for a machine that starts its browsers itself. */
const OWN_WORKERS = '50%';
/** The name of our reporter in a user's config. */
const OWN_REPORTER = 'poolwright/reporter';
const WHERE = 'withHostedBrowsers(config, options)';
const WRAPPED = Symbol.for('poolwright.wrapped');

/**
 * Runs the suite of this config on hosted browsers, without changes to its test files. Returns a new config with
 * everything from the given one, plus fixtures, one global setup and one reporter. Wrapping twice has no further
 * effect. With `service: 'local'`, only masks secrets in `use.hosted`.
 *
 * @param config Playwright's config. `use.hosted`, also of a project, overrides `options`; `false` means a local
 * browser.
 * @throws OptionsError for an unknown or invalid option, with its path and the most similar option
 */
export function withHostedBrowsers<T = NoFixtures, W = NoFixtures>(
  config: Config<T, W>,
  options: HostedOptions = {},
): Config<T, W> {
  if (WRAPPED in config) return config;
  try {
    return wrapConfig(config, options);
  } catch (error) {
    if (isPlainRun(process.argv)) loadRefusedConfig().recordRefusedConfig(config, process.argv, error);
    throw error;
  }
}

function wrapConfig<T, W>(config: Config<T, W>, options: HostedOptions): Config<T, W> {
  if (staysLocal(options)) {
    rememberLocalRun();
    return withShownOptions(config);
  }
  const common = commonUse(config as { use?: Use });
  const projects = config.projects as Project[] | undefined;
  const isWorker = hasRunBegun();
  traceTime(isWorker ? 'worker' : 'runner', 'the config is being read');
  const all = (projects ?? [{ use: common }]).map((each) => ({
    ...each,
    isLocal: staysOnLocal(common, each.use ?? {}),
  }));
  const selected = selectionOf(all, process.argv);
  // It is up when the global setup has the run's configuration.
  if (!isWorker && selected.hosted.size > 0 && isPlainRun(process.argv)) spawnBrokerEarly();
  // In a worker, the runner has already checked them.
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
    // A worker knows the `baseURL` that Playwright derives from a server's port, but no list of servers.
    const options = { ...merged, exposeNetwork };
    hosted.push({ id, name, options });
    return hostedUse({ id, name, options, wrapped: true }, common, use);
  };

  const ids = projectIds((projects ?? []).map(({ name = '' }) => name));
  const wrapped = projects
    ? {
        ...config,
        use: { ...common, hosted: undefined }, // set in every project instead
        projects: projects.map((project, n) => ({
          ...project,
          use: wrapUse(project.use ?? {}, project.name ?? '', ids[n] ?? ''),
        })),
      }
    : { ...config, use: wrapUse(common, '', '') };
  const { globalSetup, single } = withGlobalSetup(config.globalSetup);
  const choice =
    isWorker || process.env.TEST_WORKER_INDEX !== undefined
      ? null
      : loadWorkers().chooseWorkers({
          configured: config.workers,
          options: run,
          hosted: hosted.filter(({ name }) => selected.hosted.has(name)),
          hasLocal: selected.hasLocal,
          shard: config.shard,
          args: process.argv,
        });
  rememberOptions(run);
  rememberRun({ options: run, hosted, userGlobalSetup: single, workers: choice });
  return {
    ...(choice?.workers ? withWorkers(wrapped, choice.workers) : wrapped),
    ...(isWorker && { workers: sharedBrokerOf(process.env)?.workers }), // as the runner has chosen
    globalSetup,
    reporter: withReporter(config.reporter, run),
    [WRAPPED]: true,
  } as unknown as Config<T, W>; // all parts come from the given config, which TypeScript cannot infer from the spread
}

/** The config of a run on local browsers: its `use.hosted` has no effect, but reporters can read it. */
function withShownOptions<C extends { use?: object | undefined; projects?: unknown }>(config: C): C {
  const projects = config.projects as Project[] | undefined;
  if (![config, ...(projects ?? [])].some(({ use }) => use && 'hosted' in use && use.hosted)) return config;
  const shown = <P extends { use?: HostedUse | undefined }>(part: P): P =>
    part.use?.hosted ? { ...part, use: { ...part.use, hosted: shownOptions(part.use.hosted) } } : part;
  return { ...shown(config), ...(projects && { projects: projects.map(shown) }) };
}

/**
 * Workers read the config, too, but only the runner chooses their number: like `options/schema/check.ts`, it is a
 * separate file of the build.
 */
function loadWorkers(): typeof import('./config/workers.ts') {
  return createRequire(import.meta.url)(distFile('workers.cjs'));
}

function loadRefusedConfig(): typeof import('./config/refused-config.ts') {
  return createRequire(import.meta.url)(distFile('refused-config.cjs'));
}

/** Projects on local browsers keep Playwright's own number, unless they have one. */
function withWorkers<C extends { projects?: Project[] }>(config: C, workers: number): C {
  const projects = config.projects?.map((project) =>
    project.use?.hosted === false ? { workers: OWN_WORKERS, ...project } : project,
  );
  return { ...config, workers, ...(projects && { projects }) };
}

/** Whether the run uses local browsers. In a worker, the runner has already decided that. @throws OptionsError */
function staysLocal(options: HostedOptions): boolean {
  if (hasRunBegun()) return false;
  if (serviceName(options ?? {}, process.env) !== 'local') return false;
  if (process.env.TEST_WORKER_INDEX === undefined) parseHostedOptions(options, WHERE);
  return true;
}

/**
 * Rejects what the project's browsers cannot do, as far as it is known. The template of a pool is unknown here, so its
 * limits are checked when a context is opened.
 * @throws OptionsError
 */
function assertSuitable(options: MergedOptions, use: Use, where: string): void {
  assertNoEvidence(options, WHERE);
  const session = poolOf(options, process.env) === null ? (options.session ?? {}) : {};
  const { persistent } = contextMode(options.context ?? DEFAULTS.context, hasOwnState(session));
  if (persistent) assertPersistent(use, where);
  const isKept = keepsIdentity(options.identity, session.type ?? 'hosted');
  assertReusable(use, { persistent, keepsIdentity: isKept }, where);
}

/** The project's own `use.hosted`. */
function ownHosted(common: Use, use: Use): Use['hosted'] {
  return use === common ? undefined : use.hosted;
}

/** Whether a project uses Playwright's own browsers. Firefox and WebKit projects of a mixed suite do. */
function staysOnLocal(common: Use, use: Use): boolean {
  const ofProject = ownHosted(common, use);
  return (ofProject ?? common.hosted) === false || (!ofProject && browserOf(common, use) !== 'chromium');
}

function browserOf(common: Use, use: Use): string {
  return use.browserName ?? common.browserName ?? use.defaultBrowserType ?? common.defaultBrowserType ?? 'chromium';
}

/** The options of one project; null when it stays local. */
function projectOptions(run: HostedOptions, common: Use, use: Use, name: string): MergedOptions | null {
  if (staysOnLocal(common, use)) return null;
  const ofProject = ownHosted(common, use);
  const where = (scope: string) => `${scope}use.hosted`;
  let merged: MergedOptions = run;
  if (common.hosted) merged = mergeOptions(merged, parseProjectOptions(common.hosted, where('')));
  if (ofProject)
    merged = mergeOptions(merged, parseProjectOptions(ofProject, where(name ? `projects["${name}"].` : 'projects[].')));

  const browserName = browserOf(common, use);
  if (browserName !== 'chromium') {
    throw new OptionsError(
      where(`projects["${name}"].`),
      `Project "${name}" sets \`use.hosted\` but uses ${browserName}, and hosted browsers are Chromium. Set \`hosted: false\`, or use chromium.`,
    );
  }
  if (use.connectOptions ?? common.connectOptions) {
    throw new OptionsError(
      'use.connectOptions',
      `${name ? `Project "${name}"` : 'The config'} sets \`use.connectOptions\`, which selects another remote browser. Remove it, or set \`use: { hosted: false }\` for that project.`,
    );
  }
  return merged;
}

/** `use` with the fixtures. An option fixture may be a function, but Playwright's types only allow plain values. */
function hostedUse(project: WorkerProject, common: Use, use: Use): Use {
  const fixtures = {
    hosted: markMerged(project.options),
    connectOptions: async (
      { playwright, browserName }: { playwright: { chromium: BrowserType }; browserName: string },
      provide: (value: PlaywrightWorkerOptions['connectOptions']) => Promise<void>,
      workerInfo: WorkerInfo,
    ) => {
      // `--browser=firefox`, or `test.use` in a test file.
      if (browserName !== 'chromium') return await provide(undefined);
      await (await loadFixtures()).provideHostedBrowser(playwright.chromium, project, provide, workerInfo);
    },
    // In a worker, where only fixtures read it.
    ...(hasRunBegun() && {
      channel: async (
        { playwright: { chromium }, launchOptions, channel }: LaunchFixtures,
        provide: (value: string | undefined) => Promise<void>,
        workerInfo: WorkerInfo,
      ) => {
        const launches = { chromium, launchOptions, channel: use.channel ?? common.channel ?? channel };
        await (await loadFixtures()).hostLaunches(launches, project, provide, workerInfo);
      },
    }),
    // Playwright sets up both options around every test. If a test file replaces one of them with `test.use`, the other
    // one still records its tests.
    contextOptions: async ({ contextOptions }: Given<'contextOptions'>, provide: Provide, testInfo: TestInfo) =>
      await (await loadFixtures()).recordTest(
        use.contextOptions ?? common.contextOptions ?? contextOptions,
        provide,
        testInfo,
      ),
    // Listed one by one, because most of them get their default from `contextOptions`, which therefore cannot read
    // them.
    serviceWorkers: async (
      {
        serviceWorkers,
        contextOptions,
        clientCertificates,
        colorScheme,
        deviceScaleFactor,
        hasTouch,
        httpCredentials,
        isMobile,
        locale,
        proxy,
        timezoneId,
        userAgent,
        viewport,
        playwright,
      }: ContextUse & Given<'serviceWorkers'> & { playwright: { chromium: BrowserType } },
      provide: Provide,
      testInfo: TestInfo,
    ) => {
      const emulation = { colorScheme, deviceScaleFactor, hasTouch, isMobile, locale, timezoneId, userAgent, viewport };
      const { chromium } = playwright;
      const context = { ...emulation, clientCertificates, httpCredentials, proxy, contextOptions, chromium };
      const chosen = use.serviceWorkers ?? common.serviceWorkers ?? serviceWorkers;
      await (await loadFixtures()).recordTestWith(context, chosen, provide, testInfo);
    },
  };
  return { ...use, ...fixtures } as unknown as Use;
}

/**
 * Adds our global setup to the user's. Playwright supports a list since 1.49. If the user has a list, ours goes first,
 * so that it ends last. If the user has a single one, ours runs it, which works in every version.
 */
function withGlobalSetup(theirs: PlaywrightTestConfig['globalSetup']) {
  const ours = distFile('global-setup.cjs');
  if (Array.isArray(theirs)) return { globalSetup: [ours, ...theirs], single: undefined };
  return { globalSetup: ours, single: theirs };
}

/** Our reporter goes first, so that its summary precedes the others' final output. One that the user added stays. */
function withReporter(reporter: PlaywrightTestConfig['reporter'], run: HostedOptions): ReporterDescription[] {
  const { budget, shards } = run;
  const theirs: readonly ReporterDescription[] =
    typeof reporter === 'string'
      ? [[reporter] as ReporterDescription]
      : (reporter ?? [[process.env.CI ? 'dot' : 'list']]); // Playwright's own default
  const named = theirs.find(([name]) => name === OWN_REPORTER);
  const options: unknown = named?.[1];
  const ours: ReporterDescription = [
    distFile('run-reporter.cjs'),
    {
      ...(budget && { budget }),
      ...(shards !== undefined && { shards }),
      ...(typeof options === 'object' ? options : {}),
    },
  ];
  return named ? theirs.map((one) => (one === named ? ours : one)) : [ours, ...theirs];
}
