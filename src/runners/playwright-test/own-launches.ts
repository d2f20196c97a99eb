import { createRequire } from 'node:module';
import type { BrowserType, LaunchOptions, WorkerInfo } from '@playwright/test';
import { distFile } from '../../common/dist-file.ts';
import type { Use } from './fixture-types.ts';
import { interceptLaunches, type Launch, type Launched } from './launches.ts';
import type { WorkerProject } from './setup/worker-broker.ts';
import { workerState } from './worker-state.ts';

/** A launch with a hosted browser. */
export interface HostedLaunch {
  /** Rejects with a LeaseError when no browser is free in time. */
  launched: Promise<Launched>;
  /** Gives the browser back. So does closing it. Never rejects. */
  end(): Promise<void>;
}

/** Loaded by path, at the first launch: it needs an endpoint, and endpoints are built upon runners. */
export interface LaunchModule {
  /** Null: the options ask for a browser of this machine. */
  launchHosted(launch: Launch, project: WorkerProject, workerInfo: WorkerInfo): Promise<HostedLaunch | null>;
}

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
    const { launchHosted }: LaunchModule = createRequire(import.meta.url)(distFile('hosted-launch.cjs'));
    const options = { ...launchOptions, ...(channel !== undefined && { channel }), ...launch.options };
    const hosted = await launchHosted({ ...launch, options }, project, workerInfo);
    if (!hosted) return await startLocal(launch);
    ends.push(hosted.end);
    return await hosted.launched;
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
