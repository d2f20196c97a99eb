import { dirname, join } from 'node:path';
import type { FullConfig } from '@playwright/test';
import type { StartedBroker } from '../../broker/process/start.ts';
import { BROKER_VARIABLE } from '../../broker/rpc/shared-broker.ts';
import { traceTime } from '../../common/time-trace.ts';
import { OptionsError } from '../../errors.ts';
import { leasePlan } from '../../options/lease-plan.ts';
import { htmlReportFrom } from '../../reporter/html-report.ts';
import { runReporter } from '../../reporter/reported.ts';
import { finishRun } from '../../setup/finish-run.ts';
import { say } from '../../setup/say.ts';
import { startRun } from '../../setup/start-run.ts';
import { rememberedRun } from '../config/run-registry.ts';
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
  const broker = run.hosted.length > 0 ? await start(config) : null;
  let userTeardown: (() => unknown) | null = null;
  const { POOLWRIGHT_POOL: pool } = process.env;
  try {
    userTeardown = await runUserSetup(run.userGlobalSetup, config);
    if (process.env.POOLWRIGHT_POOL !== pool) {
      say('the global setup changed POOLWRIGHT_POOL: this run keeps what it was when the run began');
    }
  } catch (error) {
    await broker?.finish();
    throw error;
  }
  return async () => {
    traceTime('runner', 'teardown');
    try {
      await userTeardown?.();
    } finally {
      if (broker) await finish(broker, config);
      traceTime('runner', 'the broker is gone');
    }
  };
}

async function start(config: FullConfig): Promise<StartedBroker> {
  const run = rememberedRun();
  if (!run) throw new OptionsError('globalSetup', 'no wrapped config');
  const broker = await startRun({
    runner: 'playwright',
    options: run.options,
    folder: config.configFile ? dirname(config.configFile) : config.rootDir,
    recordFolder: recordFolder(config),
    workers: config.workers,
    shard: config.shard,
    projects: run.hosted.map(({ id, name, options }) => ({ id, name, plan: leasePlan(options, process.env) })),
  });
  traceTime('runner', 'the broker is ready');
  if (run.local.length > 0)
    say(`on local browsers: ${run.local.map((name) => name || 'the default project').join(', ')}`);
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
