import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import type { TestOptions } from './stub/start.ts';

/** An emulator in a separate process. */
export interface EmulatorProcess {
  baseURL: string;
  apiKey: string;
  pid: number;
  /** Ends it and every browser; resolves when the process is gone. */
  stop(): Promise<void>;
}

/** Options that can be serialized: no functions. */
type PlainOptions = Omit<TestOptions, 'onLog'>;

/**
 * Starts an emulator from the built package, or one with stubs from the sources. It ends with this process at the
 * latest, because its pipe closes then.
 * @param env added to this process's environment
 */
export async function startEmulatorProcess(
  options: PlainOptions = {},
  env: Record<string, string> = {},
): Promise<EmulatorProcess> {
  const script = join(import.meta.dirname, 'emulator-process.mjs');
  const { browser, ...rest } = options;
  const emulator = browser === 'stub' ? [await builtStub()] : [];
  const child = spawn(process.execPath, [script, JSON.stringify(rest), ...emulator], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  child.stdin.on('error', () => undefined); // it was killed
  const exited = once(child, 'exit');
  const stop = async () => {
    child.stdin.end();
    await exited;
  };
  const line = once(createInterface({ input: child.stdout }), 'line');
  const failed = exited.then(([code]) => {
    throw new Error(`The emulator's process ended with ${code} before it served`);
  });
  const [text] = (await Promise.race([line, failed])) as [string];
  failed.catch(() => undefined);
  return { ...JSON.parse(text), stop };
}

let built: Promise<string> | null = null;

/** Builds the emulator with stubs, once per process, for the processes that this one starts. Returns its path. */
function builtStub(): Promise<string> {
  built ??= buildStub();
  return built;
}

async function buildStub(): Promise<string> {
  // Where its dependencies resolve.
  const outfile = resolve(import.meta.dirname, `../../node_modules/.cache/poolwright-stub/${process.pid}.mjs`);
  const contents = `export { startStubEmulator as startEmulator } from './stub/start.ts';`;
  await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    ...{ outfile, target: 'node20', bundle: true, platform: 'node', format: 'esm', packages: 'external' },
  });
  process.on('exit', () => rmSync(outfile, { force: true }));
  return outfile;
}
