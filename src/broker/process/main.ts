import { errorMessage } from '../../common/error-message.ts';
import { firstJsonLine } from '../../common/json-line.ts';
import { traceTime } from '../../common/time-trace.ts';
import { redactText } from '../../redact.ts';
import { startService } from '../run/run-service.ts';

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

  const config = await firstJsonLine(process.stdin, CONFIG_TIMEOUT_MS);
  traceTime('broker', 'started');
  // An emulator starts while the rest of this process is loaded.
  const service = startService(config);
  const { serve } = await import('./serve.ts');
  await serve(config, service);
}

main().then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`poolwright broker: ${redactText(errorMessage(error))}\n`);
    process.exit(1);
  },
);
