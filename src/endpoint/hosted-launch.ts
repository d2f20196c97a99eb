import type { Browser, BrowserContext, LaunchOptions } from '@playwright/test';
import { clearTimeout, setTimeout } from '../common/clock.ts';
import { withoutStack } from '../common/error-message.ts';
import { LeaseError, withCodedName } from '../errors.ts';
import { leasePlan } from '../options/lease-plan.ts';
import type { Launched } from '../runners/playwright-test/launches.ts';
import type { LaunchModule } from '../runners/playwright-test/own-launches.ts';
import { brokerForWorker, connectionOf } from '../runners/playwright-test/setup/worker-broker.ts';
import { workerState } from '../runners/playwright-test/worker-state.ts';
import { startEndpoint } from './endpoint.ts';
import { needsLocalBrowser } from './program/browser-arguments.ts';
import { programFile } from './program-file.ts';

/** What remains of the test's time when a launch gives up, in ms. */
const MARGIN_MS = 1_000;

/**
 * Starts our program in place of a browser. The program uses an endpoint of this process: the lease ends with the
 * program, and with this process.
 */
export const launchHosted: LaunchModule['launchHosted'] = async ({ call, options, start }, project, workerInfo) => {
  if (asksForLocal(options)) return null;
  const { recorder, hosted } = workerState();
  const { runningFacts: test, timeLeft } = recorder;
  const { id, name } = project;
  let failure: unknown = null;
  const { url, stop } = await startEndpoint({
    ...(await brokerForWorker(project, workerInfo.config)),
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
      // Without a path, it finds no Node.
      const env = { PATH: process.env.PATH, ...(options.env ?? process.env), POOLWRIGHT_ENDPOINT: url };
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
};

/** Windows cannot start our program, which is a script. */
function asksForLocal({ executablePath, channel, proxy, args = [] }: LaunchOptions): boolean {
  const isOther = executablePath !== undefined || channel !== undefined || proxy !== undefined;
  return isOther || needsLocalBrowser(args) || process.platform === 'win32';
}

function onClosed(launched: Launched, listener: () => void): void {
  if ('newContext' in launched) (launched as Browser).once('disconnected', listener);
  else (launched as BrowserContext).once('close', listener);
}

function tooLate(call: string): LeaseError {
  const error = new LeaseError(
    'ACQUIRE_TIMEOUT',
    `${call}: no hosted browser was free before the end of the test. It needs one besides that of \`browser\`, \`context\` and \`page\`: use fewer workers, close other browsers first, or pass \`executablePath: chromium.executablePath()\` for a browser of this machine.`,
  );
  return withoutStack(error);
}
