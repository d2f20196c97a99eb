import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstJsonLine } from '../src/common/platform/streams.ts';
import { chromiumEnvironment, probeArguments } from '../src/emulator/chromium/arguments.ts';
import { BrowserProcess } from '../src/emulator/chromium/browser-process.ts';
import { interleave } from './measuring/interleave.ts';
import type { Figures } from './measuring/samples.ts';
import { median, spreadOf } from './measuring/statistics.ts';
import { decimals } from './report/table.ts';
import { atMost, type Suite, type SuiteOrder, type SuiteResult } from './suite.ts';
import { type EmulatorProcess, end, launchEmulator, startEmulator } from './surroundings/emulator.ts';

const TIMEOUT_MS = 60_000;
const TITLES = {
  chromium: 'Chromium: process to first DevTools answer',
  session: 'session: POST to `active`',
  node: 'Node: process to first line of an empty script',
  embedded: "emulator of a run's own: process to listening",
  command: '`poolwright emulator`: process to listening',
};
type Side = keyof typeof TITLES;
const SIDES = Object.keys(TITLES) as Side[];

/** How long browsers and the emulator take to start. */
export const startsSuite: Suite = {
  name: 'starts',
  title: 'Starts',
  about: 'ms. The first row starts Chromium without an emulator; the session is created on a running emulator.',
  rounds: 30,
  run,
};

async function run(order: SuiteOrder): Promise<SuiteResult> {
  const emulator = await startEmulator();
  const measures: Record<Side, () => Promise<number>> = {
    chromium: () => chromiumStart(order.chromium),
    session: () => sessionStart(emulator),
    node: nodeStart,
    embedded: embeddedStart,
    command: commandStart,
  };
  try {
    const samples = await interleave(SIDES, order, async (side): Promise<Figures> => {
      return { ms: await measures[side as Side]() };
    });
    const of = (side: Side) => samples.values(side, 'ms');
    const rows = SIDES.map((side) => {
      const { median: middle, lower, upper } = spreadOf(of(side));
      return [TITLES[side], decimals(middle, 0), `${decimals(lower, 0)}–${decimals(upper, 0)}`];
    });
    const more = of('session').map((ms, round) => ms - (of('chromium')[round] ?? Number.NaN));
    return {
      samples,
      tables: [{ head: ['start', 'ms', 'quartiles'], rows }],
      goals: [
        atMost("a session beyond Chromium's own start", median(more), 50, ' ms', 0),
        atMost('`poolwright emulator` until it listens', median(of('command')), 300, ' ms', 0),
      ],
    };
  } finally {
    await emulator.stop();
  }
}

async function chromiumStart(file: string): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'poolwright-bench-'));
  const args = [...probeArguments(directory, []), 'about:blank'];
  const start = performance.now();
  const browser = new BrowserProcess({ file, args, env: chromiumEnvironment() });
  await browser.ready();
  const took = performance.now() - start;
  await browser.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  return took;
}

async function sessionStart({ client }: EmulatorProcess): Promise<number> {
  const start = performance.now();
  const { sessionId, status } = await client.createSession();
  const took = performance.now() - start;
  if (status !== 'active') throw new Error(`The session is ${status}, not active`);
  await client.stopSession(sessionId);
  return took;
}

async function nodeStart(): Promise<number> {
  const start = performance.now();
  const child = spawn(process.execPath, ['-e', 'console.log("{}")'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await firstJsonLine(child.stdout, TIMEOUT_MS);
  const took = performance.now() - start;
  await exited;
  return took;
}

async function embeddedStart(): Promise<number> {
  const start = performance.now();
  const { child } = await launchEmulator({});
  const took = performance.now() - start;
  await end(child);
  return took;
}

async function commandStart(): Promise<number> {
  const start = performance.now();
  const child = spawn(process.execPath, ['dist/cli.js', 'emulator', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  await firstJsonLine(child.stdout, TIMEOUT_MS);
  const took = performance.now() - start;
  child.kill('SIGTERM');
  await exited;
  return took;
}
