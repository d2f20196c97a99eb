import * as v from 'valibot';
import { errorMessage } from '../../common/error-message.ts';
import { firstLine } from '../../common/json-line.ts';
import { notify } from '../../common/text/notify.ts';
import { traceTime } from '../../common/time-trace.ts';
import { redactText } from '../../redact.ts';
import { startService } from '../run/run-service.ts';
import { brokerConfig } from './config.ts';

/**
 * The broker's process. Its standard input carries one line of configuration and then stays open. When it closes, the
 * parent has finished or died, and the broker gives everything back. If it closes before that line, there is no run:
 * Playwright's runner starts this process as soon as it reads its config.
 */
process.title = 'poolwright broker';

async function main(): Promise<void> {
  // Ctrl-C reaches the whole process group; the parent decides how the run ends, and its pipe signals the end.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  // A closed terminal or `| head` closes the output streams; the browsers must still be given back.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

  // Load while the parent may not have sent its line yet.
  const loading = import('./serve.ts');
  loading.catch(() => undefined);
  const line = await firstLine(process.stdin);
  if (line === null) return;
  traceTime('broker', 'it has a run');
  const config = v.parse(brokerConfig, JSON.parse(line));
  // An emulator starts while the rest of this process loads.
  const service = startService(config);
  const { serve } = await loading;
  await serve(config, service);
}

main().then(
  () => process.exit(0),
  (error) => {
    notify(`broker: ${redactText(errorMessage(error))}`);
    process.exit(1);
  },
);
