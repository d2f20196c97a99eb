import type { RunRecord } from '../../../src/record/run-record.ts';
import type { Consumer } from './consumer.ts';

/** The record that a runner's run has left. */
export async function recordOf(consumer: Consumer): Promise<RunRecord> {
  return JSON.parse(await consumer.read('test-results/poolwright/run.json'));
}

/** Its tests: what they are called, and what became of them. */
export function outcomes({ sessions }: RunRecord): string[] {
  return sessions
    .flatMap(({ tests }) => tests)
    .map(({ title, status, retry }) => `${title}: ${status}${retry > 0 ? ` (retry ${retry})` : ''}`)
    .toSorted();
}
