import { type ChildProcess, spawn } from 'node:child_process';
import { basename } from 'node:path';
import { deferred } from '../../common/deferred.ts';
import { distFile } from '../../common/dist-file.ts';
import { errorMessage } from '../../common/error-message.ts';
import { within } from '../../common/pause.ts';
import { OptionsError } from '../../errors.ts';
import { printable } from '../../printable.ts';
import type { ProviderRequest } from '../provider.ts';
import type { CheckedProvider } from '../provider-calls.ts';
import { wrong } from './load-provider.ts';
import { type FromModule, type FunctionName, ORPHAN_MS, type ToModule } from './messages.ts';

/** Time limit for loading a provider's file, in ms. */
const LOAD_MS = 30_000;
/** How often a process with calls is asked for a sign of life, in ms. */
const PING_MS = 1_000;
/** How long a module may block its process while other calls wait, or at all, in ms. */
const BLOCKED_MS = { waiting: 45_000, alone: 200_000 };
/** How long the rest of a dead process's messages may take, in ms. */
const LAST_MESSAGES_MS = 1_000;
/** How a process ends when V8's heap is full, and when the system needs its memory. */
const OUT_OF_MEMORY: readonly string[] = ['SIGABRT', 'exit code 134', 'SIGKILL'];

export interface ModuleOptions {
  /** The process's script; default: the built one. */
  script?: string;
  /** See {@link BLOCKED_MS}. */
  blockedMs?: typeof BLOCKED_MS;
  loadMs?: number;
}

/**
 * Opens a user's provider in a separate process. If that process ends, the calls under way fail with an error that
 * names them, and the next call starts another one.
 * @param onNote takes lines for the user
 * @throws OptionsError for a file without a provider
 */
export async function openModule(
  file: string,
  onNote: (text: string) => void,
  options: ModuleOptions = {},
): Promise<CheckedProvider> {
  const module = new ModuleProcess(file, onNote, options);
  const has = await module.start().catch(async (error) => {
    // Its process would keep this one alive.
    await module.close();
    throw error;
  });
  const optional: Partial<CheckedProvider> = {};
  if (has.includes('list'))
    optional.list = () => module.call('list', []) as ReturnType<NonNullable<CheckedProvider['list']>>;
  if (has.includes('usage')) optional.usage = (id) => module.call('usage', [id]) as Promise<number | null>;
  if (has.includes('limit')) optional.limit = () => module.call('limit', []) as Promise<number | null>;
  // Every result is checked by the caller.
  return {
    acquire: ({ signal, ...request }: ProviderRequest) => module.call('acquire', [request], signal) as never,
    release: (id, reason) => module.call('release', [id, reason]) as Promise<void>,
    ...optional,
    kept: (id) => module.kept(id),
    close: () => module.close(),
  };
}

/** A call without a result. */
interface Pending {
  name: FunctionName;
  hasBegun: boolean;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** One process of the module. */
interface Running {
  child: ChildProcess;
  /** Its functions; rejects if the module does not load. */
  loaded: Promise<FunctionName[]>;
  calls: Map<number, Pending>;
  /** How often it was asked for a sign of life since the last one. */
  silentPings: number;
  /** Why this process has killed it. */
  killedFor: string | null;
  ended: Promise<void>;
}

class ModuleProcess {
  #running: Running | null = null;
  #calls = 0;
  readonly #file: string;
  readonly #name: string;
  readonly #onNote: (text: string) => void;
  readonly #options: Required<ModuleOptions>;

  constructor(file: string, onNote: (text: string) => void, options: ModuleOptions) {
    this.#file = file;
    this.#name = basename(file);
    this.#onNote = onNote;
    this.#options = { script: distFile('provider-main.js'), blockedMs: BLOCKED_MS, loadMs: LOAD_MS, ...options };
  }

  /** Starts the process and loads the module. @throws OptionsError */
  async start(): Promise<FunctionName[]> {
    return await this.#current().loaded;
  }

  async call(name: FunctionName, args: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    const running = this.#current();
    await running.loaded;
    const call = ++this.#calls;
    const result = new Promise<unknown>((resolve, reject) => {
      running.calls.set(call, { name, hasBegun: false, resolve, reject });
    });
    const abort = () => send(running, { do: 'abort', call });
    send(running, { do: 'call', call, name, args });
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    try {
      return await result;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  kept(id: string): void {
    if (this.#running) send(this.#running, { do: 'kept', id });
  }

  /** Ends the process; kills it if it does not end by itself. */
  async close(): Promise<void> {
    const running = this.#running;
    if (!running) return;
    if (running.child.connected) running.child.disconnect();
    if (
      await within(
        running.ended.then(() => true),
        ORPHAN_MS.acquire + ORPHAN_MS.release,
        false,
      )
    )
      return;
    running.child.kill('SIGKILL');
    await running.ended;
  }

  #current(): Running {
    this.#running ??= this.#spawn();
    return this.#running;
  }

  #spawn(): Running {
    const child = spawn(process.execPath, [this.#options.script], {
      // What the module prints goes to the terminal: our standard output is for results.
      stdio: ['ignore', 2, 2, 'ipc'],
      windowsHide: true,
    });
    const { promise: loaded, resolve, reject } = deferred<FunctionName[]>();
    loaded.catch(() => undefined);
    const running: Running = {
      child,
      loaded,
      calls: new Map(),
      silentPings: 0,
      killedFor: null,
      ended: gone(child).then((how) => this.#hasEnded(running, how, reject)),
    };
    child.on('message', (message: FromModule) => {
      running.silentPings = 0;
      if (message.is === 'loaded') resolve(message.has);
      else if (message.is === 'refused') reject(new OptionsError('provider', message.message));
      else this.#take(running, message);
    });
    send(running, { do: 'load', file: this.#file });
    const late = setTimeout(
      () => this.#kill(running, `did not load within ${this.#options.loadMs / 1000} s`),
      this.#options.loadMs,
    );
    const done = () => clearTimeout(late);
    loaded.then(done, done);
    const watch = setInterval(() => this.#watch(running), PING_MS);
    watch.unref();
    void running.ended.then(() => clearInterval(watch));
    return running;
  }

  #take(running: Running, message: FromModule): void {
    if (message.is === 'stray')
      this.#onNote(`${this.#name} failed outside of its functions: ${printable(message.message)}`);
    if (!('call' in message)) return;
    const pending = running.calls.get(message.call);
    if (!pending) return;
    if (message.is === 'begun') {
      pending.hasBegun = true;
      return;
    }
    running.calls.delete(message.call);
    if (message.is === 'done') pending.resolve(message.value === undefined ? undefined : JSON.parse(message.value));
    else
      pending.reject(
        Object.assign(new Error(message.message), { code: message.code, retryAfterMs: message.retryAfterMs }),
      );
  }

  /** Asks for a sign of life, and kills the process if the module has blocked it for too long. */
  #watch(running: Running): void {
    if (running.calls.size === 0) {
      running.silentPings = 0;
      return;
    }
    const { waiting, alone } = this.#options.blockedMs;
    const limit = [...running.calls.values()].some(({ hasBegun }) => !hasBegun) ? waiting : alone;
    const silentMs = running.silentPings * PING_MS;
    if (silentMs >= limit) this.#kill(running, `blocked its process for ${Math.round(silentMs / 1000)} s`);
    else {
      running.silentPings += 1;
      send(running, { do: 'ping' });
    }
  }

  #kill(running: Running, why: string): void {
    running.killedFor = why;
    running.child.kill('SIGKILL');
  }

  #hasEnded(running: Running, how: string, refuse: (error: Error) => void): void {
    if (this.#running === running) this.#running = null;
    const all = [...running.calls.values()];
    const begun = [...new Set(all.filter(({ hasBegun }) => hasBegun).map(({ name }) => `\`${name}\``))];
    const why = OUT_OF_MEMORY.includes(how) ? `${how}, perhaps out of memory` : how;
    const what = running.killedFor ?? `ended its process (${why})`;
    refuse(wrong(`${this.#name} ${what} while it was loaded`));
    const culprit = begun.length > 0 ? begun.join(' or ') : 'the module';
    for (const { reject } of all) reject(new Error(`${culprit} ${what}`));
    running.calls.clear();
  }
}

/** Resolves with how a process has ended, when all that it sent has arrived. */
async function gone(child: ChildProcess): Promise<string> {
  const disconnected = new Promise<void>((resolve) => child.once('disconnect', resolve));
  const how = await new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(errorMessage(error)));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  await within(disconnected, LAST_MESSAGES_MS, undefined);
  return how;
}

function send({ child }: Pick<Running, 'child'>, message: ToModule): void {
  // If the process is gone, its end rejects the calls.
  if (child.connected) child.send(message, () => undefined);
}
