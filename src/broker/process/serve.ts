import { once } from 'node:events';
import { rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { streamEnd } from '../../common/platform/stream-end.ts';
import { notify } from '../../common/text/notify.ts';
import { traceTime } from '../../common/time-trace.ts';
import { lastSweep } from '../recovery/last-sweep.ts';
import { toWire } from '../rpc/wire-error.ts';
import { runBroker } from '../run/run.ts';
import type { RunService } from '../run/run-service.ts';
import type { BrokerConfig } from './config.ts';
import type { BrokerReady } from './ready.ts';

/**
 * Runs a broker until its standard input ends, it gets SIGTERM, or its runner hangs.
 * @param service may still be starting
 */
export async function serve(config: BrokerConfig, service: Promise<RunService>): Promise<void> {
  const orphaned = streamEnd(process.stdin).then(() => null);
  const terminated = once(process, 'SIGTERM').then(() => 'SIGTERM' as const);

  const refuse = (error: unknown) => answer({ ok: false, error: toWire(error, []) });
  if (config.onlySweep) {
    const sweeps = lastSweep(config).then((notices) => notices.forEach(notify));
    return await sweeps.then(() => answer({ ok: true }), refuse);
  }
  const begins = runBroker(config, service, async (error) => {
    refuse(error);
    await Promise.race([orphaned, terminated]);
  });
  // A run that ends before it begins has no browsers. If an earlier broker died, it may have some.
  const run = await (config.deadMarks.length === 0 ? Promise.race([begins, orphaned]) : begins);
  if (!run) return await removeFolder(config.address);
  answer({ ok: true });
  traceTime('broker', 'ready');
  const abandoned = new Promise<'abandoned'>((resolve) => {
    run.abandoned.addEventListener('abort', () => resolve('abandoned'));
  });
  const why = await Promise.race([orphaned, terminated, abandoned]);
  await run.close();
  traceTime('broker', 'closed');
  // The parent is alive and starts another broker at this address.
  if (why === 'SIGTERM') return void process.kill(process.pid, why);
  if (why === 'abandoned') return;
  await removeFolder(config.address);
}

/** The parent created the socket's directory; if it was killed, it cannot remove it. */
async function removeFolder(address: string): Promise<void> {
  if (process.platform === 'win32') return;
  await rm(address, { force: true });
  await rmdir(dirname(address)).catch(() => undefined);
}

function answer(ready: BrokerReady): void {
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}
