import { once } from 'node:events';
import { rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorMessage } from '../../common/error-message.ts';
import { over } from '../../common/platform/life-line.ts';
import { traceTime } from '../../common/time-trace.ts';
import { OptionsError, PoolwrightError } from '../../errors.ts';
import { redactText } from '../../redact.ts';
import { lastSweep } from '../recovery/last-sweep.ts';
import { type BrokerRun, runBroker } from '../run/run.ts';
import type { RunService } from '../run/run-service.ts';
import { type BrokerReady, brokerConfig } from './config.ts';

/**
 * A broker from its configuration to its end, which is that of its standard input, or SIGTERM.
 * @param service on its way
 */
export async function serve(given: unknown, service: Promise<RunService>): Promise<void> {
  traceTime('broker', 'loaded');
  const config = brokerConfig.parse(given);
  const orphaned = over(process.stdin).then(() => null);
  const terminated = once(process, 'SIGTERM').then(() => 'SIGTERM' as const);

  let run: BrokerRun;
  try {
    if (config.onlySweep) return answer({ ok: true, baseURL: '', notices: await lastSweep(config) });
    run = await runBroker(config, service);
  } catch (error) {
    answer({
      ok: false,
      code: error instanceof PoolwrightError ? error.code : 'BROKER_FAILED',
      message: redactText(errorMessage(error)),
      field: error instanceof OptionsError ? error.field : null,
    });
    return;
  }
  answer({ ok: true, baseURL: run.baseURL, notices: run.notices });
  traceTime('broker', 'ready');
  const signal = await Promise.race([orphaned, terminated]);
  await run.close();
  traceTime('broker', 'closed');
  // The parent lives, and starts another broker at this address.
  if (signal) return void process.kill(process.pid, signal);
  // The parent made the socket's folder; one that was killed cannot remove it.
  if (process.platform !== 'win32') await rmdir(dirname(config.address)).catch(() => undefined);
}

function answer(ready: BrokerReady): void {
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}
