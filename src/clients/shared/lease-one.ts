import { brokerClient } from '../../broker/rpc/client.ts';
import type { HostedProject, LeasedBrowser } from '../../broker/rpc/messages/protocol.ts';
import { type BrokerAddress, sharedBrokerOf } from '../../broker/rpc/shared-broker.ts';
import type { StartedBroker } from '../../broker/start/started-broker.ts';
import { notify } from '../../common/text/notify.ts';
import { OptionsError } from '../../errors.ts';
import { featureSettings } from '../../features/list.ts';
import { RUN_WIDE_KEYS } from '../../options/defaults.ts';
import { connectionSettings, leasePlan } from '../../options/lease-plan.ts';
import { greeting } from '../../options/resolve-service.ts';
import { parseHostedOptions } from '../../options/schema/parse.ts';
import type { HostedOptions } from '../../options/schema/schema.ts';
import { assertNoEvidence, assertNoPlaywrightOptions } from '../../options/schema/without-effect.ts';
import type { Connection, ConnectionOptions } from './connection/connect-through.ts';
import { activeResources, watchLease } from './forgotten-lease.ts';
import { type HostedSession, hostedSessionOf } from './hosted-session.ts';
import { WorkerBrowser } from './worker-browser.ts';

/** Options of a script that leases a browser. */
export interface LeaseOptions extends HostedOptions {
  /**
   * Minimum remaining lifetime of the browser in ms, so that no browser is returned that is about to end. Capped by the
   * session's `duration` or the pool's `leaseTimeoutSeconds`. Default 60 000.
   */
  needMs?: number;
}

/** A browser that is leased until it is released. */
export interface Leased<Connected> extends AsyncDisposable {
  connection: Connected;
  /** The session that the browser belongs to. */
  session: HostedSession;
  /** Gives the browser back. Calling it again has no effect. Never rejects. */
  release(): Promise<void>;
}

type Connect<Browser, Connected extends Connection<Browser>> = (
  lease: LeasedBrowser,
  options: ConnectionOptions,
) => Promise<Connected>;

const NEED_MS = { default: 60_000, max: 24 * 3_600_000 };
const WHERE = 'leaseBrowser(options)';
/** The project under which the broker knows browsers leased by scripts. */
const PROJECT = { id: 'leaseBrowser', name: '' };

/** One broker per service. Each ends with this process. */
const own = new Map<string, Promise<StartedBroker>>();
let leases = 0;

/**
 * Leases one browser without a test runner: from the broker of the run that this process belongs to, or from a broker
 * that this process starts. Such a broker ends with the process, even after a crash.
 * @throws OptionsError for an unknown or invalid option; LeaseError, ServiceError or EmulatorError when no browser is
 * available within `acquireTimeout`
 */
export async function leaseOne<Browser, Connected extends Connection<Browser>>(
  { needMs = NEED_MS.default, ...given }: LeaseOptions,
  connect: Connect<Browser, Connected>,
): Promise<Leased<Connected>> {
  assertNeed(needMs);
  const before = activeResources();
  const options = parseHostedOptions(given, WHERE);
  assertNoEvidence(options, WHERE);
  assertNoPlaywrightOptions(options, WHERE);
  const project = { ...PROJECT, plan: leasePlan(options, process.env) };
  const shared = sharedBrokerOf(process.env);
  if (shared) assertNotRunWide(options);
  const address: BrokerAddress = shared ?? (await ownBroker(options, project)).address;
  const settings = connectionSettings(options, process.env);
  const worker = new WorkerBrowser<Connected>({
    broker: brokerClient(address, project),
    // It has no tests.
    features: featureSettings({}, {}),
    connect: (lease, events) => connect(lease, { ...settings, ...events, onNote: notify }),
    reuse: settings.reuse,
    project: PROJECT,
    parallelIndex: leases++,
    testTimeout: needMs,
    forScript: true,
  });
  try {
    const connection = await worker.start();
    const session = hostedSessionOf(connection.lease, (reason) => worker.features.hold(connection, reason, null));
    const unwatch = watchLease(
      before,
      () => connection.figures().commands,
      () => notify(forgotten(session)),
    );
    const release = () => {
      unwatch();
      return worker.close().catch(() => undefined);
    };
    // Releases when the browser is lost or closed without `release`. Otherwise the script would not exit.
    void connection.closed.then(release);
    return { connection, session, release, [Symbol.asyncDispose]: release };
  } catch (error) {
    await worker.close();
    throw error;
  }
}

function forgotten({ sessionId }: HostedSession): string {
  return `session ${sessionId} is still leased, and this process has nothing else to do. Call \`await release()\`: it gives the browser back and lets the process exit`;
}

function ownBroker(options: HostedOptions, project: HostedProject): Promise<StartedBroker> {
  const key = JSON.stringify(RUN_WIDE_KEYS.map((name) => options[name]));
  const known = own.get(key);
  if (known) return known;
  const starting = startOwn(options, project);
  own.set(key, starting);
  starting.catch(() => own.delete(key));
  return starting;
}

async function startOwn(options: HostedOptions, project: HostedProject): Promise<StartedBroker> {
  // Loaded here, because the processes of a run use its broker.
  const { startBrokerWith } = await import('../../broker/start/started-broker.ts');
  const start = { options, projects: [project], directory: process.cwd(), shard: null, runner: null };
  const { broker, service } = await startBrokerWith(start);
  await broker.started();
  notify(greeting(service));
  return broker;
}

function assertNeed(needMs: number): void {
  if (typeof needMs === 'number' && needMs >= 0 && needMs <= NEED_MS.max) return;
  throw new OptionsError(
    'needMs',
    `\`needMs\` in ${WHERE} must be a number of ms from 0 to ${NEED_MS.max}, got ${needMs}.`,
  );
}

/** A run has one service. A different value here would be ignored. */
function assertNotRunWide(options: HostedOptions): void {
  const misplaced = RUN_WIDE_KEYS.find((key) => options[key] !== undefined);
  if (misplaced === undefined) return;
  throw new OptionsError(
    misplaced,
    `\`${misplaced}\` in ${WHERE}: this process belongs to a poolwright run (POOLWRIGHT_BROKER) and gets its browsers from that run's broker. Set the option where the run is configured, or unset POOLWRIGHT_BROKER to start a separate broker.`,
  );
}
