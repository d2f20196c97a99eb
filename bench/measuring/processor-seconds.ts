import { cpus } from 'node:os';

/**
 * Seconds that all cores have worked since the machine started. Of a run, the difference is what it took with
 * everything it started, browsers included, on a machine that does nothing else: there is no sum over processes that
 * end in between.
 */
export function processorSeconds(): number {
  const busy = cpus().map(({ times: { user, nice, sys, irq } }) => user + nice + sys + irq);
  return busy.reduce((sum, ms) => sum + ms, 0) / 1000;
}
