import { once } from 'node:events';
import { rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorMessage } from '../../common/error-message.ts';
import { firstJsonLine } from '../../common/json-line.ts';
import { traceTime } from '../../common/time-trace.ts';
import { OptionsError, PoolwrightError } from '../../errors.ts';
import { redactText } from '../../redact.ts';
import { lastSweep } from '../recovery/last-sweep.ts';
import { type BrokerReady, brokerConfig } from './config.ts';
import { type BrokerRun, runBroker } from './run.ts';

/**
 * The broker's process. Its standard input is its parent's life line: one line of configuration, then nothing, and
 * when it ends the parent has finished or died, and everything is given back.
 */
process.title = 'poolwright broker';

const CONFIG_TIMEOUT_MS = 10_000;

async function main(): Promise<void> {
  // Ctrl-C reaches the whole process group; the parent decides what becomes of the run, and its pipe tells.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  // A closed terminal or `| head` takes the reader of its words away; the browsers still have to be given back.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

  traceTime('broker', 'loaded');
  const config = brokerConfig.parse(await firstJsonLine(process.stdin, CONFIG_TIMEOUT_MS));
  const orphaned = Promise.race([
    process.stdin.readableEnded ? Promise.resolve() : once(process.stdin, 'end'),
    once(process, 'SIGTERM'),
  ]);

  let run: BrokerRun;
  try {
    if (config.onlySweep) return answer({ ok: true, baseURL: '', notices: await lastSweep(config) });
    run = await runBroker(config);
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
  await orphaned;
  await run.close();
  traceTime('broker', 'closed');
  // The parent made the socket's folder; one that was killed cannot remove it.
  if (process.platform !== 'win32') await rmdir(dirname(config.address)).catch(() => undefined);
}

function answer(ready: BrokerReady): void {
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}

main().then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`poolwright broker: ${redactText(errorMessage(error))}\n`);
    process.exit(1);
  },
);
