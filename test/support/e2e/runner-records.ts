import type { RunRecord } from '../../../src/record/run-record.ts';
import type { Consumer } from './consumer.ts';

/** Reads the record of a runner's run. */
export async function recordOf(consumer: Consumer): Promise<RunRecord> {
  return JSON.parse(await consumer.read('test-results/poolwright/run.json'));
}

/** Returns its tests with their results. */
export function outcomes({ sessions }: RunRecord): string[] {
  return sessions
    .flatMap(({ tests }) => tests)
    .map(({ title, status, retry }) => `${title}: ${status}${retry > 0 ? ` (retry ${retry})` : ''}`)
    .toSorted();
}
