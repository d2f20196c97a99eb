import { BROKER_VARIABLE } from '../../broker/rpc/shared-broker.ts';
import type { StartedBroker } from '../../broker/start/started-broker.ts';
import { PoolwrightError } from '../../errors.ts';
import { printRun, type WriteOptions, writeRun } from '../../report/publish.ts';

/**
 * Ends the run: gives all browsers back, writes record and timeline, prints the summary.
 * @throws PoolwrightError `BUDGET_EXCEEDED` when the run used more than its budget
 */
export async function finishRun(broker: StartedBroker, options: WriteOptions): Promise<void> {
  delete process.env[BROKER_VARIABLE];
  let exceeded: string[] = [];
  await broker.finish(async (record) => {
    exceeded = printRun(await writeRun(record, options));
  });
  if (exceeded.length > 0) throw new PoolwrightError('BUDGET_EXCEEDED', exceeded.join('\n'));
}
