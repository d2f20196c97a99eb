import type { Log } from '../process/log.ts';
import { emptySweep, type SweepOptions, type SweepResult, sweep } from './sweep.ts';

/** How long the start of a run waits for the sweep, in ms; it goes on behind the run. */
const WAIT_MS = 5_000;
/** Bound on one sweep, in ms. */
const SWEEP_MS = 45_000;

/** A run's sweeps: one when it starts, and where that left something, another one at its end. */
export class RunSweep {
  #first: Promise<SweepResult> | null = null;

  readonly #options: SweepOptions;
  readonly #log: Log;

  constructor(options: SweepOptions, log: Log) {
    this.#options = options;
    this.#log = log;
  }

  /** Begins to stop what dead runs left. Returns what came of it; what takes longer than 5 s is said when it is done. */
  async begin(): Promise<string[]> {
    this.#first = this.#sweep();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, WAIT_MS, null);
    });
    const result = await Promise.race([this.#first, late]);
    clearTimeout(timer);
    if (result) return sweepLines(result);
    void this.#first.then((swept) => this.#say(swept));
    return [];
  }

  /** Tries again what the first sweep could not stop. */
  async end(): Promise<void> {
    const result = await this.#first;
    if (result && result.failures.length > 0) this.#say(await this.#sweep());
  }

  async #sweep(): Promise<SweepResult> {
    try {
      return await sweep({ ...this.#options, signal: AbortSignal.timeout(SWEEP_MS) });
    } catch (error) {
      // What other runs left must never be why this one does not start, or ends.
      return { ...emptySweep(), failures: [`could not look for what dead runs left: ${String(error)}`] };
    }
  }

  #say(result: SweepResult): void {
    for (const line of sweepLines(result)) this.#log.notice(line);
  }
}

/** What a sweep came to, one line each; nothing where it found nothing. */
export function sweepLines(swept: SweepResult): string[] {
  const said: string[] = [];
  const runs = [...new Set(swept.stopped.map(({ runId }) => runId))].join(', ');
  const browsers = swept.stopped.length === 1 ? '1 browser' : `${swept.stopped.length} browsers`;
  if (swept.stopped.length > 0) said.push(`stopped ${browsers} that a dead run left (${runs})`);
  for (const { poolId, runId } of swept.unknownLeases) {
    said.push(
      `run ${runId} may hold one more browser of pool ${poolId} (its acquire was never answered): it ends by itself at the pool's \`leaseTimeoutSeconds\``,
    );
  }
  for (const file of swept.setAside) {
    said.push(`warning: ${file} is not a ledger of this version, or only half of one: set aside, not used`);
  }
  for (const failure of swept.failures) said.push(`warning: ${failure}`);
  return said;
}
