import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import * as v from 'valibot';
import { traceTime } from '../common/debug.ts';
import { errorMessage } from '../common/error-message.ts';
import { firstLine, streamEnd } from '../common/platform/streams.ts';
import { notify } from '../common/text/notify.ts';
import { redactText } from '../redact.ts';
import { type BrokerConfig, type BrokerReady, brokerConfig } from './config/config.ts';
import { removeSocketDirectory } from './recovery/left-sockets.ts';
import { serializeError } from './rpc/messages/serialized-error.ts';
import { type RunService, startEmulator } from './run/run-service.ts';

/**
 * The broker's process. Its standard input carries one line of configuration and then stays open. When it closes, the
 * parent has finished or died, and the broker gives everything back. If it closes before that line, there is no run:
 * Playwright's runner starts this process as soon as it reads its config.
 */
process.title = 'poolwright broker';
// undici's parser is WebAssembly. Node before 24 also compiles it with V8's optimizing compiler, which takes more
// processor time than all that a broker parses: a third of a short run's broker. Later V8 may not know the flag.
if (Number.parseInt(process.versions.node, 10) < 24) setFlagsFromString('--liftoff-only');

/** Loaded while the parent may not have sent its line yet. */
const load = () => import('./run/run.ts');
type Run = Awaited<ReturnType<typeof load>>;

async function main(): Promise<void> {
  // Ctrl-C reaches the whole process group; the parent decides how the run ends, and its pipe signals the end.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  // A closed terminal or `| head` closes the output streams; the browsers must still be given back.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

  const loading = load();
  loading.catch(() => undefined);
  const line = await firstLine(process.stdin);
  if (line === null) return;
  traceTime('broker', 'it has a run');
  const config = v.parse(brokerConfig, JSON.parse(line));
  if (config.onlySweep) return await sweep(config);
  // An emulator starts while the rest of this process loads.
  const service = config.service.kind === 'emulator' ? startEmulator(config) : config.service;
  await serve(config, service, await loading);
}

/**
 * Runs a broker until its standard input ends, it gets SIGTERM, or its runner hangs.
 * @param service may still be starting
 */
async function serve(
  config: BrokerConfig,
  service: RunService | Promise<RunService>,
  { runBroker }: Run,
): Promise<void> {
  const orphaned = streamEnd(process.stdin).then(() => null);
  const terminated = once(process, 'SIGTERM').then(() => 'SIGTERM' as const);
  const begins = runBroker(config, service, async (error) => {
    refuse(error);
    await Promise.race([orphaned, terminated]);
  });
  // A run that ends before it begins has no browsers. If an earlier broker died, it may have some.
  const run = await (config.deadMarks.length === 0 ? Promise.race([begins, orphaned]) : begins);
  // The parent created the socket's directory; if it was killed, it cannot remove it.
  if (!run) return await removeSocketDirectory(config.address);
  reply({ ok: true });
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
  await removeSocketDirectory(config.address);
}

/** Gives back what the run's dead brokers left. */
async function sweep(config: BrokerConfig): Promise<void> {
  const { lastSweep } = await import('./recovery/run-sweep.ts');
  const sweeps = lastSweep(config).then((notices) => notices.forEach(notify));
  await sweeps.then(() => reply({ ok: true }), refuse);
}

function refuse(error: unknown): void {
  reply({ ok: false, error: serializeError(error, []) });
}

function reply(ready: BrokerReady): void {
  process.stdout.write(`${JSON.stringify(ready)}\n`);
}

main().then(
  () => process.exit(0),
  (error) => {
    notify(`broker: ${redactText(errorMessage(error))}`);
    process.exit(1);
  },
);
