import { randomBytes } from 'node:crypto';
import { traceTime } from '../../common/debug.ts';
import { deferred } from '../../common/deferred.ts';
import { openProvider } from '../../providers/open-provider.ts';
import { RecentRefusal } from '../acquire/recent-refusal.ts';
import type { BrokerConfig } from '../config/config.ts';
import type { BrokerFeatureModule } from '../feature.ts';
import { Projects } from '../leases/projects.ts';
import { directoryClock } from '../ledger/directory-clock.ts';
import { Terminal } from '../log/terminal.ts';
import { noteRunner, removeLeftSockets } from '../recovery/left-sockets.ts';
import { runRefused } from '../rpc/messages/refusals.ts';
import { type BrokerHandlers, type BrokerRun, openLog, recordRefusal, startRun } from '../run/run.ts';
import { closeService, type RunService } from '../run/run-service.ts';
import { StartDeadline } from '../run/start-deadline.ts';
import { listen } from './server.ts';

/** The features of a broker, one line each. They load with this file, before the broker has its run. */
const FEATURES: Readonly<Record<string, Promise<BrokerFeatureModule>>> = {
  watch: import('../watch/feature.ts'),
};

/**
 * Starts the broker of a run: first the socket, where all requests wait, then the client, then the checks that need no
 * browser (key, pools).
 * @param onItsWay the service, which may still be starting
 * @param refused reports why the run cannot start (OptionsError, ServiceError, EmulatorError, PoolwrightError
 * `TIMEOUT`). Until its promise settles, workers go on waiting for browsers; their runner ends them with the run.
 * @returns null if the run cannot start; everything is closed then
 */
export async function runBroker(
  config: BrokerConfig,
  onItsWay: RunService | Promise<RunService>,
  refused: (why: unknown) => Promise<void>,
): Promise<BrokerRun | null> {
  const start = new StartDeadline(config.startTimeoutMs);
  const projects = new Projects(config.projects);
  const terminal = new Terminal();
  const { promise: begun, resolve: begin, reject: beginNot } = deferred<BrokerHandlers>();
  begun.catch(() => undefined); // there may be no listener
  const features = (await Promise.all(Object.values(FEATURES))).map((feature) => feature.create(config));
  const observerToken = randomBytes(24).toString('base64url');
  const { address, token } = config;
  const listening = await listen(address, { token, observerToken, features, projects, terminal, begun });
  const onClose = features.map((feature) => feature.listens({ address, token: observerToken }));
  const server = {
    close: () => {
      for (const close of onClose) close();
      listening.close();
    },
  };
  traceTime('broker', 'listens');
  noteRunner(address);
  void removeLeftSockets();
  try {
    const service = await onItsWay;
    const log = openLog(config, service, terminal);
    const overload = new RecentRefusal(log);
    const provider = await openProvider(service, {
      onNote: (text) => log.notice(text),
      beatClock: directoryClock(config.ledgerDirectory),
      onRetry: (retry) => {
        overload.saw(retry);
        start.saw(retry);
      },
    });
    try {
      const { handlers, ...run } = await startRun(config, {
        start,
        service,
        projects,
        terminal,
        log,
        overload,
        provider,
        features,
      });
      start.stop();
      begin(handlers);
      return { ...run, close: () => run.close().finally(() => server.close()) };
    } catch (error) {
      await closeService(provider, service);
      throw error;
    }
  } catch (error) {
    start.stop();
    beginNot(runRefused());
    await recordRefusal(config, error);
    await refused(error).finally(() => server.close());
    return null;
  }
}
