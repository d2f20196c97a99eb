import { within } from '../../common/pause.ts';
import { notify } from '../../common/text/notify.ts';
import { OptionsError } from '../../errors.ts';
import { openProvider } from '../../providers/open-provider.ts';
import type { BrokerConfig } from '../config/config.ts';
import { directoryClock } from '../ledger/directory-clock.ts';
import { workspaceOf } from '../ledger/workspace.ts';
import type { Log } from '../log/log.ts';
import { emptySweep, type SweepOptions, type SweepResult, sweep } from './sweep.ts';

/** How long the start of a run waits for the sweep, in ms; the sweep then continues in the background. */
const WAIT_MS = 5_000;
/** Deadline of one sweep, in ms. */
const SWEEP_MS = 45_000;

/** A run's sweeps: one at the start and, if that left something, another one at the end. */
export class RunSweep {
  #first: Promise<SweepResult> | null = null;
  readonly #options: SweepOptions;
  readonly #log: Log;

  constructor(options: SweepOptions, log: Log) {
    this.#options = options;
    this.#log = log;
  }

  /** Starts to stop what dead runs left. Returns the results; if it takes longer than 5 s, they are logged later. */
  async begin(): Promise<string[]> {
    this.#first = this.#sweep();
    const result = await within(this.#first, WAIT_MS, null);
    if (result) return sweepLines(result);
    void this.#first.then((swept) => this.#print(swept));
    return [];
  }

  /** Retries what the first sweep could not stop. */
  async end(): Promise<void> {
    const result = await this.#first;
    if (result && result.failures.length > 0) this.#print(await this.#sweep());
  }

  async #sweep(): Promise<SweepResult> {
    try {
      return await sweep({ ...this.#options, signal: AbortSignal.timeout(SWEEP_MS) });
    } catch (error) {
      // Problems with other runs' browsers must never keep this run from starting or ending.
      return { ...emptySweep(), failures: [`could not look for what dead runs left: ${String(error)}`] };
    }
  }

  #print(result: SweepResult): void {
    for (const line of sweepLines(result)) this.#log.notice(line);
  }
}

/** Advice about browsers that a sweep could neither find nor rule out, one line each. */
export function unknownBrowserLines(unknown: SweepResult['unknownBrowsers']): string[] {
  return unknown.map(({ request, runId, listedBy, ledger }) => {
    const what = `run ${runId} may have left one more browser (its \`acquire\` had no result)`;
    if (listedBy !== null) return `${what}: the next sweep after ${listedBy} finds it, if there is one`;
    return `${what}, and the provider has no \`list\` to find it: look there for a browser with req=${request} in its label, then delete ${ledger}`;
  });
}

/** Formats the results of a sweep, one line each; empty if it found nothing. */
function sweepLines(swept: SweepResult): string[] {
  const said: string[] = [];
  const runs = [...new Set(swept.stopped.map(({ runId }) => runId))].join(', ');
  const browsers = swept.stopped.length === 1 ? '1 browser' : `${swept.stopped.length} browsers`;
  if (swept.stopped.length > 0) said.push(`stopped ${browsers} that a dead run left (${runs})`);
  for (const { poolId, runId } of swept.unknownLeases) {
    said.push(
      `run ${runId} may hold one more browser of pool ${poolId} (its acquire got no response): it ends by itself at the pool's \`leaseTimeoutSeconds\``,
    );
  }
  const lost = swept.unknownBrowsers.filter(({ listedBy }) => listedBy === null);
  for (const line of unknownBrowserLines(lost)) said.push(line);
  for (const file of swept.setAside) {
    said.push(`warning: ${file} is not a ledger of this version, or only half of one: set aside, not used`);
  }
  for (const failure of swept.failures) said.push(`warning: ${failure}`);
  return said;
}

/** Deadline of the sweep, in ms. */
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
