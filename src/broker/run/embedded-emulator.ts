import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as v from 'valibot';
import { distFile } from '../../common/dist-file.ts';
import { firstJsonLine } from '../../common/json-line.ts';
import { EmulatorError } from '../../errors.ts';

/** The emulator of this run: a child of the broker, so that it outlives every browser and nothing outlives it. */
export interface EmbeddedEmulator {
  baseURL: string;
  apiKey: string;
  /** Which Chromium it runs for what, and why; one line each. */
  chromiums: string[];
  /** Fires when it has ended by itself, with an EmulatorError `EMULATOR_ENDED` for who waits for a browser of it. */
  ended: AbortSignal;
  stop(): Promise<void>;
}

const answer = v.variant('ok', [
  v.object({ ok: v.literal(true), baseURL: v.string(), apiKey: v.string(), chromiums: v.array(v.string()) }),
  v.object({ ok: v.literal(false), code: v.string(), message: v.string() }),
]);

const START_TIMEOUT_MS = 30_000;
/** The emulator promises to be gone within 5 s of its pipe's end; after this it is killed. */
const STOP_TIMEOUT_MS = 8_000;

/**
 * Starts the emulator with these options (`EmulatorOptions` of `poolwright/emulator`).
 * @throws EmulatorError with the emulator's own code and message.
 */
export async function startEmbeddedEmulator(options: Record<string, unknown>): Promise<EmbeddedEmulator> {
  const child = spawn(process.execPath, [distFile('emulator-main.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    windowsHide: true,
  });
  child.stdin.on('error', () => undefined); // it may be gone before it has read: its answer tells
  child.stdin.write(`${JSON.stringify(options)}\n`);

  let started: v.InferOutput<typeof answer>;
  try {
    started = v.parse(answer, await firstJsonLine(child.stdout, START_TIMEOUT_MS));
  } catch (error) {
    await end(child);
    throw new EmulatorError('EMULATOR_START_FAILED', 'The embedded emulator did not start.', { cause: error });
  }
  if (!started.ok) {
    await end(child);
    const code = started.code === 'EMULATOR_NO_CHROMIUM' ? started.code : 'EMULATOR_START_FAILED';
    throw new EmulatorError(code, started.message);
  }
  const { baseURL, apiKey, chromiums } = started;
  const ended = new AbortController();
  const onExit = (code: number | null, signal: string | null) => {
    const message = `The emulator of this run has ended (${signal ?? `code ${code}`}), and its browsers with it.`;
    ended.abort(new EmulatorError('EMULATOR_ENDED', message));
  };
  child.once('exit', onExit);
  const stop = async () => {
    child.off('exit', onExit);
    await end(child);
  };
  return { baseURL, apiKey, chromiums, ended: ended.signal, stop };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.stdin?.end();
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}
