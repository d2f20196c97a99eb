import { type RunRecord, runRecord } from '../../../src/record/run-record.ts';
import type { Consumer } from './consumer.ts';

/** Reads the record of a run. */
export async function recordOf(consumer: Consumer, file = 'test-results/poolwright/run.json'): Promise<RunRecord> {
  return runRecord.parse(JSON.parse(await consumer.read(file)));
}

/** Returns its tests with their results. */
export function outcomes({ sessions }: RunRecord): string[] {
  return sessions
    .flatMap(({ tests }) => tests)
    .map(({ title, status, retry }) => `${title}: ${status}${retry > 0 ? ` (retry ${retry})` : ''}`)
    .toSorted();
}
