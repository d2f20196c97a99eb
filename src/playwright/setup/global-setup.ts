import { dirname, join } from 'node:path';
import type { FullConfig } from '@playwright/test';
import { dropEarlyBroker } from '../../broker/process/spawn-broker.ts';
import type { StartedBroker } from '../../broker/process/start.ts';
import { BROKER_VARIABLE } from '../../broker/rpc/shared-broker.ts';
import { notify } from '../../common/text/notify.ts';
import { traceTime } from '../../common/time-trace.ts';
import { OptionsError } from '../../errors.ts';
import { leasePlan } from '../../options/lease-plan.ts';
import { htmlReportFrom } from '../../reporter/html-report.ts';
import { runReporter } from '../../reporter/reported.ts';
import { finishRun } from '../../setup/finish-run.ts';
import { beginRun } from '../../setup/start-run.ts';
import { isPlainRun } from '../config/plain-run.ts';
import { rememberedRun, type WrappedRun } from '../config/run-registry.ts';
import { ineffectiveLaunchOptions } from './launch-options.ts';
import { selectedProjects } from './selected-projects.ts';
import { StartBehindWorkers } from './start-behind-workers.ts';
import { runUserSetup } from './user-setup.ts';

/**
 * The global setup that the wrapper adds: starts the run's broker and tells the workers where it is. What it returns is
 * the teardown; a runner that dies before it gets there closes the broker's pipe, which does the same.
 */
export default async function globalSetup(config: FullConfig): Promise<() => Promise<void>> {
  traceTime('runner', 'global setup');
  const run = rememberedRun();
  if (!run) {
    throw new OptionsError(
      'globalSetup',
      "poolwright's global setup runs only in a config made by withHostedBrowsers.",
    );
  }
  const selected = selectedProjects(config, process.argv);
  // A run of local projects alone needs no key.
  const broker = run.hosted.some(({ name }) => selected.has(name)) ? await start(config, run) : null;
  dropEarlyBroker();
  const behind = broker && isPlainRun(process.argv) ? new StartBehindWorkers(broker) : null;
  if (!behind) await broker?.started();
  let userTeardown: (() => unknown) | null = null;
  const { POOLWRIGHT_POOL: pool } = process.env;
  try {
    userTeardown = await runUserSetup(run.userGlobalSetup, config);
    if (process.env.POOLWRIGHT_POOL !== pool) {
      notify('the global setup changed POOLWRIGHT_POOL: this run keeps what it was when the run began');
    }
  } catch (error) {
    await broker?.finish();
    throw error;
  }
  await behind?.runBegins();
  return async () => {
    traceTime('runner', 'teardown');
    behind?.runEnds();
    try {
      await userTeardown?.();
    } finally {
      if (broker && !behind?.isAbandoned) await finish(broker, config);
      traceTime('runner', 'the broker is gone');
    }
  };
}

async function start(config: FullConfig, run: WrappedRun): Promise<StartedBroker> {
  const broker = await beginRun({
    runner: 'playwright',
    options: run.options,
    folder: config.configFile ? dirname(config.configFile) : config.rootDir,
    recordFolder: recordFolder(config),
    workers: config.workers,
    shard: config.shard,
    projects: run.hosted.map(({ id, name, options }) => ({ id, name, plan: leasePlan(options, process.env) })),
  });
  traceTime('runner', 'the broker has its run');
  const ineffective = ineffectiveLaunchOptions(config.projects);
  if (ineffective !== null) notify(ineffective);
  return broker;
}

async function finish(broker: StartedBroker, config: FullConfig): Promise<void> {
  const reporter = runReporter();
  if (!reporter) {
    const folder = recordFolder(config);
    const files = { folder, htmlReport: htmlReportFrom(folder, config) };
    return await finishRun(broker, files, rememberedRun()?.options.budget);
  }
  delete process.env[BROKER_VARIABLE];
  await broker.finish((record) => reporter.take(record));
}

function recordFolder(config: FullConfig): string {
  const outputDir = config.projects[0]?.outputDir ?? join(dirname(config.configFile ?? '.'), 'test-results');
  return join(outputDir, 'poolwright');
}
