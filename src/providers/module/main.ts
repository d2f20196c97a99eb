import { writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { errorMessage } from '../../common/error-message.ts';
import { within } from '../../common/pause.ts';
import { OPTIONAL, type Provider } from '../provider.ts';
import { loadProvider } from './load-provider.ts';
import { type FromModule, type FunctionName, ORPHAN_MS, type ToModule } from './messages.ts';

/**
 * The process of a user's provider: whatever its code does, the process that started this one goes on. When that one
 * ends or dies, this one releases what is in no ledger, and ends.
 */

/** Longer results are an error: the parent reads them whole. */
const MOST_CHARACTERS = 10_000_000;
const MOST_MESSAGE = 10_000;

process.title = 'poolwright provider';
const sendToParent = process.send?.bind(process);
/** The module's own messages are not for our parent. */
process.send = () => true;

let provider: Provider | null = null;
/** Signals of the calls under way. */
const calls = new Map<number, AbortController>();
/** Browsers that were acquired and are in no ledger yet. */
const unkept = new Set<string>();
const acquires = new Set<Promise<unknown>>();

function reply(message: FromModule): void {
  // Without a parent, `disconnect` follows.
  sendToParent?.(message, undefined, undefined, () => undefined);
}

async function load(file: string): Promise<void> {
  try {
    const loaded = await loadProvider(file);
    provider = loaded;
    const optional = OPTIONAL.filter((name) => loaded[name] !== undefined);
    reply({ is: 'loaded', has: ['acquire', 'release', ...optional] });
  } catch (error) {
    reply({ is: 'refused', message: text(error) });
  }
}

async function call({ call: number, name, args }: Extract<ToModule, { do: 'call' }>): Promise<void> {
  const controller = new AbortController();
  calls.set(number, controller);
  reply({ is: 'begun', call: number });
  try {
    const value = JSON.stringify(parts(name, await run(name, args, controller.signal)));
    if (value !== undefined && value.length > MOST_CHARACTERS)
      throw new Error(`\`${name}\` returned more than ${MOST_CHARACTERS} characters`);
    reply({ is: 'done', call: number, value });
  } catch (error) {
    const { code, retryAfterMs } = Object(error);
    const named = typeof code === 'string' ? (code as never) : undefined;
    const delay = typeof retryAfterMs === 'number' ? retryAfterMs : undefined;
    reply({ is: 'failed', call: number, code: named, retryAfterMs: delay, message: text(error) });
  } finally {
    calls.delete(number);
  }
}

async function run(name: FunctionName, args: readonly unknown[], signal: AbortSignal): Promise<unknown> {
  if (name === 'release') return await release(...(args as Parameters<Provider['release']>));
  if (name !== 'acquire') return await provider?.[name]?.(...(args as [string]));
  const request = args[0] as Parameters<Provider['acquire']>[0];
  const acquired = Promise.resolve(provider?.acquire({ ...request, signal })).then((browser) => {
    const { id } = Object(browser);
    if (typeof id === 'string') unkept.add(id);
    return browser;
  });
  acquires.add(acquired);
  return await acquired.finally(() => acquires.delete(acquired));
}

async function release(...[id, reason]: Parameters<Provider['release']>): Promise<void> {
  await provider?.release(id, reason);
  unkept.delete(id);
}

/** What the parent reads of a result. */
function parts(name: FunctionName, value: unknown): unknown {
  if (name === 'release') return null;
  if (name === 'list' && Array.isArray(value)) return value.map((each) => pick(each, ['id', 'label']));
  return name === 'acquire' ? pick(value, ['id', 'cdpUrl', 'headers', 'expiresAt']) : value;
}

function pick(value: unknown, names: string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(names.map((name) => [name, (value as Record<string, unknown>)[name]]));
}

function text(error: unknown): string {
  return errorMessage(error).slice(0, MOST_MESSAGE);
}

/** Waits for browsers that are being acquired, releases what is in no ledger, and ends. */
async function end(): Promise<void> {
  for (const controller of calls.values()) controller.abort(new Error('the run has ended'));
  await within(Promise.allSettled(acquires), ORPHAN_MS.acquire, null);
  const released = [...unkept].map((id) => release(id, 'left-over').catch(() => undefined));
  await within(Promise.all(released), ORPHAN_MS.release, null);
  process.exit(0);
}

/** Ends this process when its parent is gone and the module blocks it. */
function guard(): void {
  const code = `
    const parent = ${process.ppid};
    const isThere = () => { try { process.kill(parent, 0); return true; } catch (error) { return error.code === 'EPERM'; } };
    setInterval(() => {
      if (process.ppid === parent && isThere()) return;
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${ORPHAN_MS.acquire + ORPHAN_MS.release + 2_000});
    }, 1000);`;
  new Worker(code, {
    eval: true,
    stdout: false,
    stderr: false,
    resourceLimits: { maxOldGenerationSizeMb: 16 },
  }).unref();
}

// Ctrl-C reaches the whole process group; the parent decides what ends.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
process.on('uncaughtException', (error) => reply({ is: 'stray', message: text(error) }));
try {
  // On Linux: where memory runs out, it is this process that ends, not the one that holds the browsers.
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Elsewhere.
}
guard();
process.once('disconnect', () => void end());
process.on('message', (message: ToModule) => {
  if (message.do === 'load') void load(message.file);
  else if (message.do === 'call') void call(message);
  else if (message.do === 'abort') calls.get(message.call)?.abort(new Error('not needed any more'));
  else if (message.do === 'kept') unkept.delete(message.id);
  else if (message.do === 'ping') reply({ is: 'pong' });
});
