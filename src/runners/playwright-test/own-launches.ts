import { createRequire } from 'node:module';
import type { BrowserType, LaunchOptions, WorkerInfo } from '@playwright/test';
import type { HostedProject } from '../../broker/rpc/messages/protocol.ts';
import type { BrokerAddress } from '../../broker/rpc/shared-broker.ts';
import { distFile } from '../../common/dist-file.ts';
import { leasePlan } from '../../options/lease-plan.ts';
import type { ConnectionSettings } from '../../options/schema/plan.ts';
import type { TestFacts } from '../../record/test-record.ts';
import type { Use } from './fixture-types.ts';
import { interceptLaunches, type Launch, type Launched } from './launches.ts';
import { brokerForWorker, connectionOf, type WorkerProject } from './setup/worker-broker.ts';
import { workerState } from './worker-state.ts';

/** Where the browser of a launch comes from. */
export interface LaunchSource {
  address: BrokerAddress;
  connection: ConnectionSettings;
  project: HostedProject;
  ownProject: HostedProject;
  /** The run's root directory. */
  root: string;
  /** The test that launches it; null: none does. */
  test(): TestFacts | null;
  /** ms until that test times out; null: it does not. */
  timeLeft: number | null;
}

/** A launch with a hosted browser. */
export interface HostedLaunch {
  /** Rejects with a LeaseError when no browser is free in time. */
  launched: Promise<Launched>;
  /** Gives the browser back. So does closing it. Never rejects. */
  end(): Promise<void>;
}

/** Endpoints are built upon runners, and this one needs an endpoint: it is loaded by path, at the first launch. */
export interface LaunchModule {
  launchHosted(launch: Launch, source: LaunchSource): Promise<HostedLaunch>;
  /** Whether the options of a launch are those of a browser on this machine. */
  asksForLocal(options: LaunchOptions): boolean;
}

/** What a worker's fixture needs for launches. */
export interface LaunchUse {
  chromium: BrowserType;
  /** Playwright adds both to the options of each launch. */
  launchOptions: LaunchOptions;
  channel: string | undefined;
}

/**
 * The worker fixture `channel`, which changes nothing in it: it runs in every worker, before other fixtures. Browsers
 * that tests and fixtures launch meanwhile are hosted, unless their options ask for one of this machine.
 */
export async function hostLaunches(
  { chromium, launchOptions, channel }: LaunchUse,
  project: WorkerProject,
  use: Use<string | undefined>,
  workerInfo: WorkerInfo,
): Promise<void> {
  const state = workerState();
  const ends: (() => Promise<void>)[] = [];
  state.launch = async (launch) => {
    const { launchHosted, asksForLocal }: LaunchModule = createRequire(import.meta.url)(distFile('hosted-launch.cjs'));
    const options = { ...launchOptions, ...(channel !== undefined && { channel }), ...launch.options };
    if (asksForLocal(options)) return await startLocal(launch);
    const { recorder, hosted } = state;
    const { runningFacts: test, timeLeft } = recorder;
    const { id, name } = project;
    // No other test gets this browser: the test may change anything in it.
    const ownProject = { id, name, plan: { ...leasePlan(project.options, process.env), reuse: 'test' as const } };
    const { launched, end } = await launchHosted(
      { ...launch, options },
      {
        ...(await brokerForWorker(project, workerInfo.config)),
        connection: connectionOf(project, workerInfo),
        project: ownProject,
        ownProject,
        root: workerInfo.config.rootDir,
        test,
        timeLeft,
      },
    );
    ends.push(end);
    hosted?.whileWaiting(launched);
    return await launched;
  };
  watchLaunches(chromium);
  try {
    await use(channel);
  } finally {
    state.launch = null;
    await Promise.all(ends.map((end) => end()));
  }
}

/** Notes launches of browsers in this process that are not hosted. */
export function watchLaunches(chromium: BrowserType): void {
  interceptLaunches(chromium, (launch) => (workerState().launch ?? startLocal)(launch));
}

async function startLocal({ call, options, start }: Launch): Promise<Launched> {
  workerState().recorder.launched(call);
  return await start(options);
}
