import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FullConfig } from '@playwright/test';
import { up as nearestPackage } from 'empathic/package';
import { BROKER_VARIABLE } from '../../../broker/rpc/shared-broker.ts';
import { dropEarlyBroker } from '../../../broker/start/spawn-broker.ts';
import { type StartedBroker, startBrokerWith } from '../../../broker/start/started-broker.ts';
import { WAYS } from '../../../clients/playwright/ways.ts';
import { traceTime } from '../../../common/debug.ts';
import { defaultExport, importModule } from '../../../common/import-module.ts';
import { notify } from '../../../common/text/notify.ts';
import { OptionsError, withCodedName } from '../../../errors.ts';
import { featureSettings } from '../../../features/list.ts';
import { aheadVariable } from '../../../options/environment.ts';
import { leasePlan, wayOf } from '../../../options/lease-plan.ts';
import type { HostedOptions } from '../../../options/schema/schema.ts';
import { htmlReportFrom } from '../../../report/html-report.ts';
import { localLaunches } from '../../../report/local-browsers.ts';
import { recordDirectory, runReporter } from '../../../report/run-reporter.ts';
import { publishRun, runRefused } from '../../shared/publish-run.ts';
import { isPlainRun } from '../config/plain-run.ts';
import { rememberedRun, type WrappedProject, type WrappedRun } from '../config/run-registry.ts';
import { interceptLaunches } from '../launches.ts';
import { BackgroundStart } from './background-start.ts';
import { selectedProjects } from './selected-projects.ts';

/** Replacements for a window, one line each. */
const WINDOWS: Readonly<Record<string, () => Promise<{ showBrowsers(broker: StartedBroker): void }>>> = {
  watch: () => import('../watch/watch-page.ts'),
};

/** Checks of a run before a browser is requested, one line each. */
const CHECKS: Readonly<Record<string, () => Promise<{ checkRun(config: FullConfig, options: HostedOptions): void }>>> =
  {
    shards: () => import('../../../report/shards/find-timings.ts'),
  };

/**
 * The global setup that the wrapper adds. Starts the run's broker and publishes its address for the workers. Returns
 * the teardown. If the runner dies before the teardown, the broker's pipe closes, which has the same effect.
 */
export default async function globalSetup(config: FullConfig): Promise<() => Promise<void>> {
  const tearDown = await setUp(config).catch(rethrow);
  return async () => await tearDown().catch(rethrow);
}

function rethrow(error: unknown): never {
  throw withCodedName(error);
}

async function setUp(config: FullConfig): Promise<() => Promise<void>> {
  traceTime('runner', 'global setup');
  const run = rememberedRun();
  if (!run) {
    throw new OptionsError(
      'globalSetup',
      "poolwright's global setup runs only in a config made by withHostedBrowsers.",
    );
  }
  const selected = selectedProjects(config, process.argv);
  // A run of only local projects needs no API key.
  const broker = run.hosted.some(({ name }) => selected.has(name)) ? await start(config, run) : null;
  if (broker && asksForWindow(config.projects, selected)) {
    for (const load of Object.values(WINDOWS)) (await load()).showBrowsers(broker);
  }
  dropEarlyBroker();
  const background = broker && isPlainRun(process.argv) ? new BackgroundStart(broker) : null;
  if (!background) await broker?.started();
  if (broker) watchSetups();
  let userTeardown: (() => unknown) | null = null;
  const { POOLWRIGHT_POOL: pool } = process.env;
  try {
    userTeardown = await runUserSetup(run.userGlobalSetup, config);
    if (process.env.POOLWRIGHT_POOL !== pool) {
      notify('the global setup changed POOLWRIGHT_POOL, but this run keeps the value from its start');
    }
  } catch (error) {
    await broker?.finish();
    throw error;
  }
  await background?.runBegins();
  return async () => {
    traceTime('runner', 'teardown');
    background?.runEnds();
    try {
      await userTeardown?.();
    } finally {
      if (broker && !background?.isAbandoned) await finish(broker, config);
      traceTime('runner', 'the broker has ended');
    }
  };
}

async function start(config: FullConfig, run: WrappedRun): Promise<StartedBroker> {
  try {
    return await startIn(recordDirectory(config), config, run);
  } catch (error) {
    await runRefused({ recordDirectory: recordDirectory(config), runner: 'playwright', shard: config.shard }, error);
    throw error;
  }
}

async function startIn(directory: string, config: FullConfig, run: WrappedRun): Promise<StartedBroker> {
  await checkWays(config, run.hosted);
  if (config.shard) for (const load of Object.values(CHECKS)) (await load()).checkRun(config, run.options);
  // Only workers use the variables of these. They are checked before any browser is requested.
  aheadVariable(process.env);
  featureSettings(run.options, process.env);
  const record = {
    runner: 'playwright',
    recordDirectory: directory,
    workers: config.workers,
    shard: config.shard,
  } as const;
  const started = await startBrokerWith({
    ...record,
    options: run.options,
    directory: config.configFile ? dirname(config.configFile) : config.rootDir,
    workersChosen: run.workers?.why != null && run.workers.workers !== null,
    projects: run.hosted.map(({ id, name, options }) => ({ id, name, plan: leasePlan(options, process.env) })),
  });
  const broker = publishRun(started, record);
  traceTime('runner', 'the broker has its run');
  // Unless a flag overrides it, such as --debug.
  const { workers, why = null } = run.workers ?? {};
  if (why !== null && (workers ?? config.workers) === config.workers) notify(why);
  const ineffective = ineffectiveLaunchOptions(config.projects, process.argv);
  if (ineffective !== null) notify(ineffective);
  return broker;
}

async function finish(broker: StartedBroker, config: FullConfig): Promise<void> {
  const reporter = runReporter();
  if (!reporter) {
    const directory = recordDirectory(config);
    const { budget } = rememberedRun()?.options ?? {};
    // Only this path needs the report, which takes long to load.
    const { finishRun } = await import('../../shared/finish-run.ts');
    return await finishRun(broker, { directory, htmlReport: htmlReportFrom(directory, config), budget });
  }
  delete process.env[BROKER_VARIABLE];
  await broker.finish((record) => reporter.take(record));
}

const IN_SETUP = 'A global setup leases one with `leaseBrowser`';

/** Says once that a global setup has started a browser of this machine. */
function watchSetups(): void {
  const { chromium }: typeof import('@playwright/test') = createRequire(import.meta.url)('@playwright/test');
  let isSaid = false;
  interceptLaunches(chromium, ({ call, options, start }) => {
    if (!isSaid) notify(localLaunches([call], IN_SETUP));
    isSaid = true;
    return start(options);
  });
}

/** Checks the other ways to browsers that projects name, before one is requested. @throws OptionsError, LeaseError */
async function checkWays({ version }: FullConfig, projects: readonly WrappedProject[]): Promise<void> {
  const ways = projects.flatMap(({ options }) => wayOf(options, process.env) ?? []);
  const different = new Map(ways.map((way) => [way.address, way]));
  const checks = [...different.values()].map(async ({ name, address }) => {
    const way = await WAYS[name]?.();
    await way?.check(address, version);
  });
  await Promise.all(checks);
}

/**
 * Runs the user's own global setup, which the wrapper replaced, in the same way as Playwright: in this process, where
 * Playwright's loader compiles TypeScript. Returns its teardown, if it has one.
 */
async function runUserSetup(path: string | undefined, config: FullConfig): Promise<(() => unknown) | null> {
  if (path === undefined) return null;
  const file = locate(path, dirname(config.configFile ?? join(process.cwd(), 'playwright.config.ts')));
  const loaded: unknown = isModule(file) ? await importModule(pathToFileURL(file)) : createRequire(file)(file);
  const setup = defaultExport(loaded);
  if (typeof setup !== 'function') {
    throw new OptionsError('globalSetup', `${file}: globalSetup file must export a single function.`);
  }
  const teardown: unknown = await setup(config);
  return typeof teardown === 'function' ? () => teardown() : null;
}

/** Resolves a path relative to the config, or a package. */
function locate(path: string, configDir: string): string {
  const local = resolve(configDir, path);
  if (existsSync(local) && extname(local) !== '') return local;
  try {
    return createRequire(join(configDir, 'config.js')).resolve(path);
  } catch {
    const withExtension = ['.ts', '.js', '.mts', '.mjs', '.cts', '.cjs']
      .map((ext) => `${local}${ext}`)
      .find(existsSync);
    return withExtension ?? local;
  }
}

/** Node's rule: by extension, else by the nearest package.json. */
function isModule(file: string): boolean {
  if (/\.m[jt]s$/.test(file)) return true;
  if (/\.c[jt]s$/.test(file)) return false;
  const manifest = nearestPackage({ cwd: dirname(file) });
  return manifest !== undefined && JSON.parse(readFileSync(manifest, 'utf8')).type === 'module';
}

type Project = Pick<FullConfig['projects'][number], 'name' | 'use'>;

/** Whether a selected hosted project asks for a window: `--headed`, `--debug`, `headless: false`. */
export function asksForWindow(projects: readonly Project[], selected: ReadonlySet<string>): boolean {
  return projects.some(({ name, use }) => {
    if (!selected.has(name) || !('hosted' in use) || use.hosted === false) return false;
    return (use.headless ?? use.launchOptions?.headless) === false;
  });
}

/**
 * Names the launch options that hosted projects set without effect, because a hosted browser is already launched, and
 * `--debug=cli`: Playwright pauses the first context that it sees, which is the hosted browser's own one and not that
 * of the test. Null if there are none.
 * @param args of this process
 */
export function ineffectiveLaunchOptions(projects: readonly Project[], args: readonly string[]): string | null {
  const options = new Set(/ --debug[= ]cli\b/.test(args.join(' ')) ? ['--debug=cli'] : []);
  const names = new Set<string>();
  for (const { name, use } of projects) {
    if (!('hosted' in use) || use.hosted === false) continue;
    const set = launchOptionsOf(use);
    for (const option of set) options.add(option);
    if (set.length > 0 && name !== '') names.add(`"${name}"`);
  }
  if (options.size === 0) return null;
  const where = names.size === 0 ? '' : ` (${[...names].join(', ')})`;
  return `no effect on hosted browsers${where}: ${[...options].join(', ')}. To use Playwright's own browsers, set POOLWRIGHT_SERVICE=local`;
}

function launchOptionsOf({ channel, launchOptions }: Project['use']): string[] {
  // `--headed` has a notice with its own advice.
  const { headless: _headless, ...others } = launchOptions ?? {};
  const named = Object.entries(others).filter(([, value]) => value !== undefined);
  return [...(typeof channel === 'string' ? ['channel'] : []), ...named.map(([key]) => `launchOptions.${key}`)];
}
