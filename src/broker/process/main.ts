import { errorMessage } from '../../common/error-message.ts';
import { firstLine } from '../../common/json-line.ts';
import { traceTime } from '../../common/time-trace.ts';
import { redactText } from '../../redact.ts';
import { startService } from '../run/run-service.ts';

/**
 * The broker's process. Its standard input is its parent's life line: one line of configuration, then nothing, and
 * when it ends the parent has finished or died, and everything is given back. Where it ends before that line, there is no
 * run: Playwright's runner starts this process when it reads its config.
 */
process.title = 'poolwright broker';

async function main(): Promise<void> {
  // Ctrl-C reaches the whole process group; the parent decides what becomes of the run, and its pipe tells.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  // A closed terminal or `| head` takes the reader of its words away; the browsers still have to be given back.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

  // While the parent may have nothing to say yet.
  const loading = import('./serve.ts');
  loading.catch(() => undefined);
  const line = await firstLine(process.stdin);
  if (line === null) return;
  traceTime('broker', 'it has a run');
  const config: unknown = JSON.parse(line);
  // An emulator starts while the rest of this process is loaded.
  const service = startService(config);
  const { serve } = await loading;
  await serve(config, service);
}

main().then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`poolwright broker: ${redactText(errorMessage(error))}\n`);
    process.exit(1);
  },
);
