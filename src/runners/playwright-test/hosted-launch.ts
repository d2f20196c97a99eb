import type { Browser, BrowserContext, WorkerInfo } from '@playwright/test';
import { clearTimeout, setTimeout } from '../../common/clock.ts';
import { startEndpoint } from '../../endpoint/endpoint.ts';
import { programFile } from '../../endpoint/program-file.ts';
import { LeaseError, withCodedName } from '../../errors.ts';
import { leasePlan } from '../../options/lease-plan.ts';
import type { Launch, Launched } from './launches.ts';
import { brokerForWorker, connectionOf, type WorkerProject } from './setup/worker-broker.ts';
import { workerState } from './worker-state.ts';

/** What remains of the test's time when a launch gives up, in ms. */
const MARGIN_MS = 1_000;

/** A launch with a hosted browser. */
export interface HostedLaunch {
  /** Rejects with a LeaseError when no browser is free in time. */
  launched: Promise<Launched>;
  /** Gives the browser back. So does closing it. Never rejects. */
  end(): Promise<void>;
}

/**
 * Starts our program in place of a browser. The program uses an endpoint of this process: the lease ends with the
 * program, and with this process.
 */
export async function launchHosted(
  { call, options, start }: Launch,
  project: WorkerProject,
  workerInfo: WorkerInfo,
): Promise<HostedLaunch> {
  const { recorder, hosted } = workerState();
  const { runningFacts: test, timeLeft } = recorder;
  const { address } = await brokerForWorker(project, workerInfo.config);
  const { id, name } = project;
  let failure: unknown = null;
  const { url, stop } = await startEndpoint({
    address,
    connection: connectionOf(project, workerInfo),
    project,
    // No other test gets this browser: the test may change anything in it.
    ownProject: { id, name, plan: { ...leasePlan(project.options, process.env), reuse: 'test' } },
    root: workerInfo.config.rootDir,
    command: call,
    test,
    onFailure: (error) => {
      // Otherwise the program has ended first, and Playwright knows why.
      if (!(error instanceof LeaseError && error.code === 'ABORTED')) failure ??= error;
    },
  });
  const giveUp = () => {
    failure = tooLate(call);
    void stop();
  };
  const timer = timeLeft === null ? undefined : setTimeout(giveUp, Math.max(0, timeLeft - MARGIN_MS));
  const launch = async () => {
    try {
      const env = { ...(options.env ?? process.env), POOLWRIGHT_ENDPOINT: url };
      const launched = await start({ ...options, executablePath: programFile(), env });
      onClosed(launched, () => void stop());
      return launched;
    } catch (error) {
      await stop();
      throw withCodedName(failure ?? error);
    } finally {
      clearTimeout(timer);
    }
  };
  const launched = launch();
  hosted?.whileWaiting(launched);
  return { launched, end: stop };
}

function onClosed(launched: Launched, listener: () => void): void {
  if ('newContext' in launched) (launched as Browser).once('disconnected', listener);
  else (launched as BrowserContext).once('close', listener);
}

function tooLate(call: string): LeaseError {
  return new LeaseError(
    'ACQUIRE_TIMEOUT',
    `${call}: no hosted browser was free before the end of the test. It needs one besides that of \`browser\`, \`context\` and \`page\`: use fewer workers, or close other browsers first.`,
  );
}
