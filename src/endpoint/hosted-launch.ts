import type { Browser, BrowserContext, BrowserContextOptions, LaunchOptions } from '@playwright/test';
import { brokerClient } from '../broker/rpc/client.ts';
import { withoutEmulation } from '../clients/playwright/context-options.ts';
import { clearTimeout, setTimeout } from '../common/clock.ts';
import { withoutStack } from '../common/error-message.ts';
import { LeaseError, withCodedName } from '../errors.ts';
import { keepsIdentity } from '../options/identity.ts';
import { connectionSettings, leasePlan, type MergedOptions } from '../options/lease-plan.ts';
import type { LeasePlan } from '../options/schema/plan.ts';
import type { Launched } from '../runners/playwright-test/launches.ts';
import type { LaunchModule } from '../runners/playwright-test/own-launches.ts';
import { brokerForWorker, suiteOf } from '../runners/playwright-test/setup/worker-broker.ts';
import { workerState } from '../runners/playwright-test/worker-state.ts';
import { startEndpoint } from './endpoint.ts';
import { needsLocalBrowser } from './program/browser-arguments.ts';
import { programFile } from './program-file.ts';

/** What remains of the test's time when a launch gives up, in ms. */
const MARGIN_MS = 1_000;
/** Notes that this worker has sent: each takes a connection. */
const said = new Set<string>();

/**
 * Starts our program in place of a browser. The program uses an endpoint of this process: the lease ends with the
 * program, and with this process.
 */
export const launchHosted: LaunchModule['launchHosted'] = async (launch, project, workerInfo) => {
  const { call, isPersistent, options, start } = launch;
  if (asksForLocal(options)) return null;
  const { recorder, hosted } = workerState();
  const { runningFacts: test, timeLeft } = recorder;
  const { id, name } = project;
  const plan = leasePlan(project.options, process.env);
  const broker = await brokerForWorker(project, workerInfo.config);
  const keep = identityKeeper(plan, project.options, (note) => {
    if (said.has(note)) return;
    said.add(note);
    const client = brokerClient(broker.address, broker.ownProject);
    const saying = client.say({ text: name ? `project "${name}": ${note}` : note });
    void saying.catch(() => undefined).then(() => client.close()); // the broker of a run that ends is gone
  });
  let failure: unknown = null;
  const { url, stop } = await startEndpoint({
    address: broker.address,
    connection: connectionSettings(project.options, process.env, suiteOf(workerInfo)),
    project,
    // No other test gets this browser: the test may change anything in it.
    ownProject: { id, name, plan: { ...plan, reuse: 'test' } },
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
  const launching = async () => {
    try {
      // Without a path, it finds no Node.
      const env = { PATH: process.env.PATH, ...(options.env ?? process.env), POOLWRIGHT_ENDPOINT: url };
      const kept = isPersistent && keep ? keep(options) : options;
      const launched = await start({ ...kept, executablePath: programFile(), env });
      onClosed(launched, () => void stop());
      const browser = browserOf(launched);
      if (browser && keep) keepInContexts(browser, keep);
      return launched;
    } catch (error) {
      await stop();
      throw withCodedName(failure ?? error);
    } finally {
      clearTimeout(timer);
    }
  };
  const launched = launching();
  hosted?.whileWaiting(launched);
  return { launched, end: stop };
};

/** Windows cannot start our program, which is a script. */
function asksForLocal({ executablePath, channel, proxy, args = [] }: LaunchOptions): boolean {
  const isOther = executablePath !== undefined || channel !== undefined || proxy !== undefined;
  return isOther || needsLocalBrowser(args) || process.platform === 'win32';
}

type Keep = <O extends BrowserContextOptions>(options: O) => O;

/** Returns what takes emulation out of a context's options; null where a browser does not keep its identity. */
function identityKeeper(
  { pool, session }: LeasePlan,
  { identity }: MergedOptions,
  onNote: (note: string) => void,
): Keep | null {
  // The template of a pool is unknown.
  const type = pool === null ? (session.type ?? 'hosted') : 'hosted';
  if (!keepsIdentity(identity, type)) return null;
  return (given) => {
    const { kept, note } = withoutEmulation(type, given, workerState().contextUse);
    if (note !== null) onNote(note);
    return kept;
  };
}

/** Null for a server, and for a context of a Playwright that does not tell it. */
function browserOf(launched: Launched): Browser | null {
  if ('newContext' in launched) return launched;
  return 'browser' in launched ? launched.browser() : null;
}

function keepInContexts(browser: Browser, keep: Keep): void {
  const newContext = browser.newContext.bind(browser);
  // `newPage` calls it, too.
  browser.newContext = (options = {}) => newContext(keep(options));
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
