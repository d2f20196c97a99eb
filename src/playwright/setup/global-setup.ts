import { dirname, join } from 'node:path';
import type { FullConfig } from '@playwright/test';
import { type StartedBroker, startBroker } from '../../broker/process/start.ts';
import { BROKER_VARIABLE } from '../../broker/rpc/shared-broker.ts';
import { traceTime } from '../../common/time-trace.ts';
import { OptionsError, PoolwrightError } from '../../errors.ts';
import { leasePlan } from '../../options/lease-plan.ts';
import { projectFolder } from '../../options/project-folder.ts';
import { resolveService, type ServiceChoice } from '../../options/resolve-service.ts';
import { htmlReportFrom } from '../../reporter/html-report.ts';
import { printRun, type WrittenRun, writeRun } from '../../reporter/publish.ts';
import { runReporter } from '../../reporter/reported.ts';
import { rememberedRun } from '../config/run-registry.ts';
import { earlierAttempts, newRunId } from './run-id.ts';
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
  const service = resolveService(run.options, process.env);
  const { suite, ledgerFolder } = projectFolder(config.configFile ? dirname(config.configFile) : config.rootDir);
  const broker = await startBroker({
    runId: newRunId(process.env),
    service,
    recordFolder: recordFolder(config),
    workers: config.workers,
    shard: config.shard,
    suite,
    ledgerFolder,
    overRuns: earlierAttempts(process.env),
    projects: run.hosted.map(({ id, name, options }) => ({ id, name, plan: leasePlan(options, process.env) })),
  });
  traceTime('runner', 'the broker is ready');
  process.env[BROKER_VARIABLE] = JSON.stringify({ ...broker.address, runner: process.pid });
  say(greeting(service, broker.baseURL));
  for (const notice of broker.notices) say(notice);
  if (run.local.length > 0)
    say(`on local browsers: ${run.local.map((name) => name || 'the default project').join(', ')}`);
  return broker;
}

function greeting(service: ServiceChoice, baseURL: string): string {
  if (service.kind === 'hosted') return `hosted browsers of ${new URL(baseURL).host}`;
  const why = service.chosenBy === 'no-key' ? 'no POOLWRIGHT_API_KEY is set' : "`service: 'emulator'`";
  return `browsers of this machine, through the emulator of the service (${why})`;
}

async function finish(broker: StartedBroker, config: FullConfig): Promise<void> {
  delete process.env[BROKER_VARIABLE];
  const reporter = runReporter();
  if (reporter) return void (await broker.finish((record) => reporter.take(record)));
  const folder = recordFolder(config);
  let written = null as WrittenRun | null;
  await broker.finish(async (record) => {
    written = await writeRun(record, { folder, htmlReport: htmlReportFrom(folder, config) });
    return written.isRecorded;
  });
  const exceeded = written ? printRun(written, rememberedRun()?.options.budget ?? {}) : [];
  if (exceeded.length > 0) throw new PoolwrightError('BUDGET_EXCEEDED', exceeded.join('\n'));
}

function recordFolder(config: FullConfig): string {
  const outputDir = config.projects[0]?.outputDir ?? join(dirname(config.configFile ?? '.'), 'test-results');
  return join(outputDir, 'poolwright');
}

/** To standard error: standard output may be a reporter's JSON. */
function say(line: string): void {
  process.stderr.write(`poolwright: ${line}\n`);
}
