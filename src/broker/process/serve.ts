import { once } from 'node:events';
import { rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { over } from '../../common/platform/life-line.ts';
import { notify } from '../../common/text/notify.ts';
import { traceTime } from '../../common/time-trace.ts';
import { lastSweep } from '../recovery/last-sweep.ts';
import { toWire } from '../rpc/wire-error.ts';
import { runBroker } from '../run/run.ts';
import type { RunService } from '../run/run-service.ts';
import { brokerConfig } from './config.ts';
import type { BrokerReady } from './ready.ts';

/**
 * A broker from its configuration to its end, which is that of its standard input, SIGTERM, or a runner that hangs.
 * @param service on its way
 */
export async function serve(given: unknown, service: Promise<RunService>): Promise<void> {
  const config = brokerConfig.parse(given);
  const orphaned = over(process.stdin).then(() => null);
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
  // A run that is over before it could begin has no browser; one whose broker died may have some.
  const run = await (config.deadMarks.length === 0 ? Promise.race([begins, orphaned]) : begins);
  if (!run) return await removeFolder(config.address);
  answer({ ok: true });
  traceTime('broker', 'ready');
  const forsaken = new Promise<'forsaken'>((resolve) => {
    run.forsaken.addEventListener('abort', () => resolve('forsaken'));
  });
  const why = await Promise.race([orphaned, terminated, forsaken]);
  await run.close();
  traceTime('broker', 'closed');
  // The parent lives, and starts another broker at this address.
  if (why === 'SIGTERM') return void process.kill(process.pid, why);
  if (why === 'forsaken') return;
  await removeFolder(config.address);
}

/** The parent made the socket's folder; one that was killed cannot remove it. */
async function removeFolder(address: string): Promise<void> {
  if (process.platform === 'win32') return;
  await rm(address, { force: true });
  await rmdir(dirname(address)).catch(() => undefined);
}

function answer(ready: BrokerReady): void {
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}
