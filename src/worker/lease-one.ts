import type { StartedBroker } from '../broker/process/start.ts';
import { type BrokerAddress, sharedBrokerOf } from '../broker/rpc/shared-broker.ts';
import { notify } from '../common/text/notify.ts';
import { OptionsError } from '../errors.ts';
import { DEFAULTS, RUN_WIDE_KEYS } from '../options/defaults.ts';
import { exposedNetwork } from '../options/expose-network.ts';
import { leasePlan } from '../options/lease-plan.ts';
import { parseHostedOptions } from '../options/schema/parse.ts';
import type { HostedOptions } from '../options/schema/schema.ts';
import { BrokerClient } from './broker-client.ts';
import { activeResources, watchLease } from './forgotten-lease.ts';
import { type HostedSession, hostedSessionOf } from './hosted-session.ts';
import type { LeaseLink } from './link/lease-link.ts';
import { type LinkSettings, linkSettings } from './link/link-settings.ts';
import { startOwnBroker } from './own-broker.ts';
import { WorkerBrowser, type WorkerBrowserOptions } from './worker-browser.ts';

/** What a script says of the browser that it wants. */
export interface LeaseOptions extends HostedOptions {
  /**
   * How long the browser must last at least, in ms, so that one which is about to end is not handed out. More than the
   * session's `duration` or the pool's `leaseTimeoutSeconds` is not to be had. Default 60 000.
   */
  needMs?: number;
}

/** A browser that a script has. */
export interface Leased<Link> {
  link: Link;
  session: HostedSession;
  /** Gives it back. Called again it does nothing more. Never rejects. */
  release(): Promise<void>;
}

type Connect<Link extends LeaseLink> = (
  settings: LinkSettings,
  ...rest: Parameters<WorkerBrowserOptions<Link>['connect']>
) => Promise<Link>;

const NEED_MS = { default: 60_000, max: 24 * 3_600_000 };
const WHERE = 'leaseBrowser(options)';
/** What the broker knows a script's own browsers by. */
const PROJECT = { id: 'leaseBrowser', name: '' };

/** One a service: each ends with this process. */
const own = new Map<string, Promise<StartedBroker>>();
let leases = 0;

/**
 * Leases one browser for whoever asks, without a test runner: of the run that this process belongs to, or of a broker of
 * its own, which ends with it, however that dies.
 * @throws OptionsError for an unknown or wrong option; LeaseError, ServiceError or EmulatorError codes when no browser
 * comes within `acquireTimeout`
 */
export async function leaseOne<Link extends LeaseLink>(
  { needMs = NEED_MS.default, ...given }: LeaseOptions,
  connect: Connect<Link>,
): Promise<Leased<Link>> {
  assertNeed(needMs);
  const before = activeResources();
  const options = parseHostedOptions(given, WHERE);
  const project = { ...PROJECT, plan: leasePlan(options, process.env) };
  const shared = sharedBrokerOf(process.env);
  if (shared) assertNotRunWide(options);
  const address: BrokerAddress = shared ?? (await ownBroker(options, project)).address;
  const settings = linkSettings(options, exposedNetwork(options.exposeNetwork, {}), process.env);
  const worker = new WorkerBrowser<Link>({
    broker: new BrokerClient(address, project),
    connect: (lease, events) => connect(settings, lease, events),
    reuse: options.reuse ?? DEFAULTS.reuse,
    project: PROJECT,
    parallelIndex: leases++,
    testTimeout: needMs,
    forScript: true,
  });
  try {
    const link = await worker.start();
    const session = hostedSessionOf(link.lease);
    const unwatch = watchLease(
      before,
      () => link.commands(),
      () => notify(forgotten(session)),
    );
    const release = () => {
      unwatch();
      return worker.close().catch(() => undefined);
    };
    return { link, session, release };
  } catch (error) {
    await worker.close();
    throw error;
  }
}

function forgotten({ sessionId }: HostedSession): string {
  return `session ${sessionId} is still leased, and this process has nothing else to do: \`await release()\` gives the browser back and lets the process end`;
}

function ownBroker(
  options: HostedOptions,
  project: Parameters<typeof startOwnBroker>[0]['project'],
): Promise<StartedBroker> {
  const key = JSON.stringify(RUN_WIDE_KEYS.map((name) => options[name]));
  const known = own.get(key);
  if (known) return known;
  const starting = startOwnBroker({ options, project, folder: process.cwd(), shard: null, runner: null });
  own.set(key, starting);
  starting.catch(() => own.delete(key));
  return starting;
}

function assertNeed(needMs: number): void {
  if (typeof needMs === 'number' && needMs >= 0 && needMs <= NEED_MS.max) return;
  throw new OptionsError(
    'needMs',
    `\`needMs\` in ${WHERE} must be a number of ms from 0 to ${NEED_MS.max}, got ${needMs}.`,
  );
}

/** A run has one service: what says otherwise would be ignored. */
function assertNotRunWide(options: HostedOptions): void {
  const misplaced = RUN_WIDE_KEYS.find((key) => options[key] !== undefined);
  if (misplaced === undefined) return;
  throw new OptionsError(
    misplaced,
    `\`${misplaced}\` in ${WHERE}: this process belongs to a run of poolwright (POOLWRIGHT_BROKER), whose broker lends the browser. Set it where the run is set up, or unset POOLWRIGHT_BROKER to have a broker of its own.`,
  );
}
