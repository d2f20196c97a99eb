import { once } from 'node:events';
import { createInterface } from 'node:readline';
import pTimeout from 'p-timeout';
import { traceTime } from '../common/debug.ts';
import { errorMessage } from '../common/error-message.ts';
import { streamEnd } from '../common/platform/streams.ts';
import { OptionsError, PoolwrightError } from '../errors.ts';
import { describeChromiums } from './chromium/choose-chromium.ts';
import { killGroup } from './chromium/kill-group.ts';
import type { EmulatorOptions } from './options.ts';
import { type Emulator, startEmulator } from './start.ts';

/**
 * The emulator as a separate process, so that it does not slow its parent down. The protocol: the parent writes
 * one JSON line with the options (nothing secret is on the command line or in the environment), gets one JSON line
 * back, and keeps the pipe open for as long as the emulator is wanted. However the parent ends, the pipe breaks.
 */

/** Everything is stopped within this time, or killed. */
const STOP_TIMEOUT_MS = 4_000;

type Reply =
  | { ok: true; baseURL: string; apiKey: string; chromiums: string[] }
  | { ok: false; code: string; message: string };

process.title = 'poolwright emulator';
// A Ctrl-C reaches the whole process group of a terminal; when to stop is the parent's decision.
process.on('SIGINT', () => undefined);
process.stdout.on('error', () => undefined);

const unwanted = Promise.race([streamEnd(process.stdin), once(process, 'SIGTERM')]);
const lines = createInterface({ input: process.stdin });

try {
  const first = await Promise.race([once(lines, 'line'), unwanted.then(() => undefined)]);
  if (first) await run(first[0]);
} finally {
  // Nothing is left to wait for, and a pipe that is still open must not keep the process.
  process.exit();
}

async function run(line: string): Promise<void> {
  traceTime('emulator', 'loaded');
  let emulator: Emulator;
  try {
    emulator = await startEmulator(parseOptions(line));
  } catch (error) {
    const code = error instanceof PoolwrightError ? error.code : 'EMULATOR_START_FAILED';
    await reply({ ok: false, code, message: errorMessage(error) });
    process.exitCode = 1;
    return;
  }
  const chromiums = emulator.chromiums ? describeChromiums(emulator.chromiums) : [];
  traceTime('emulator', 'listening');
  await reply({ ok: true, baseURL: emulator.baseURL, apiKey: emulator.apiKey, chromiums });
  await unwanted;
  await pTimeout(emulator.stop(), { milliseconds: STOP_TIMEOUT_MS, message: false });
  emulator.browserPids().forEach(killGroup);
}

/** `startEmulator` checks them; here only that it is JSON. */
function parseOptions(line: string): EmulatorOptions {
  try {
    return JSON.parse(line);
  } catch {
    throw new OptionsError('stdin', 'The emulator expects its options as one line of JSON on stdin.');
  }
}

async function reply(value: Reply): Promise<void> {
  await new Promise((resolve) => process.stdout.write(`${JSON.stringify(value)}\n`, resolve));
}
