import type { BrowserType, LaunchOptions, WorkerInfo } from '@playwright/test';
import type { Use } from './fixture-types.ts';
import type { HostedLaunch } from './hosted-launch.ts';
import { interceptLaunches, type Launch, type Launched } from './launches.ts';
import type { WorkerProject } from './setup/worker-broker.ts';
import { workerState } from './worker-state.ts';

/** Whether a program can be started in place of a browser. On Windows, ours is a script. */
const CAN_START = process.platform !== 'win32';

/** What a worker's fixture needs for launches. */
export interface LaunchUse {
  chromium: BrowserType;
  /** Playwright adds both to the options of each launch. */
  launchOptions: LaunchOptions;
  channel: string | undefined;
}

/**
 * The worker fixture `channel`, which changes nothing in it: it runs in every worker, before other fixtures. Browsers
 * that tests and fixtures launch meanwhile are hosted, unless the options of the launch name another browser.
 */
export async function hostLaunches(
  { chromium, launchOptions, channel }: LaunchUse,
  project: WorkerProject,
  use: Use<string | undefined>,
  workerInfo: WorkerInfo,
): Promise<void> {
  const state = workerState();
  const hosted = new Set<HostedLaunch>();
  state.launch = async (launch) => {
    const options = { ...launchOptions, ...(channel !== undefined && { channel }), ...launch.options };
    if (!CAN_START || options.executablePath !== undefined || options.channel !== undefined)
      return await startLocal(launch);
    const { launchHosted } = await import('./hosted-launch.ts');
    const started = await launchHosted({ ...launch, options }, project, workerInfo);
    hosted.add(started);
    return await started.launched;
  };
  watchLaunches(chromium);
  try {
    await use(channel);
  } finally {
    state.launch = null;
    await Promise.all([...hosted].map(({ end }) => end()));
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
