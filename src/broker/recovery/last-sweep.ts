import { notify } from '../../common/text/notify.ts';
import { OptionsError } from '../../errors.ts';
import { openProvider } from '../../providers/open-provider.ts';
import type { BrokerConfig } from '../config/config.ts';
import { directoryClock } from '../ledger/directory-clock.ts';
import { workspaceOf } from '../ledger/workspace.ts';
import { sweepLines } from './run-sweep.ts';
import { sweep } from './sweep.ts';

const LAST_SWEEP_MS = 60_000;

/**
 * After a run's last broker has died: gives back everything of its brokers that ledgers, notes and marks identify.
 * @returns the results, one line each
 */
export async function lastSweep(config: BrokerConfig): Promise<string[]> {
  const { service, runId, suite, ledgerDirectory, deadMarks, address } = config;
  if (service.kind !== 'hosted' && service.kind !== 'provider') {
    throw new OptionsError('service', 'neither an emulator nor browsers that run already leave anything to sweep');
  }
  const provider = await openProvider(service, { onNote: notify, beatClock: directoryClock(ledgerDirectory) });
  try {
    // Every previous owner of the run's socket is dead, and no broker has an empty mark.
    const self = { mark: '', socket: address };
    const deadBrokers = deadMarks.map((mark) => ({ runId, mark }));
    const signal = AbortSignal.timeout(LAST_SWEEP_MS);
    const workspace = workspaceOf(service);
    return sweepLines(await sweep({ provider, workspace, suite, ledgerDirectory, deadBrokers, self, signal }));
  } finally {
    await provider.close();
  }
}
