import type { StartedBroker } from '../broker/process/start.ts';
import { BROKER_VARIABLE } from '../broker/rpc/shared-broker.ts';
import { PoolwrightError } from '../errors.ts';
import type { Budget } from '../options/schema/budget.ts';
import { printRun, type WriteOptions, type WrittenRun, writeRun } from '../reporter/publish.ts';

/**
 * Ends the run: every browser is given back, record and timeline are written, the summary is printed.
 * @throws PoolwrightError `BUDGET_EXCEEDED` when it used more than it may
 */
export async function finishRun(broker: StartedBroker, files: WriteOptions, budget: Budget = {}): Promise<void> {
  delete process.env[BROKER_VARIABLE];
  let written = null as WrittenRun | null;
  await broker.finish(async (record) => {
    written = await writeRun(record, files);
    return written.isRecorded;
  });
  const exceeded = written ? printRun(written, budget) : [];
  if (exceeded.length > 0) throw new PoolwrightError('BUDGET_EXCEEDED', exceeded.join('\n'));
}
