import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { firstJsonLine } from '../../src/common/platform/streams.ts';
import { interleave } from '../measuring/interleave.ts';
import type { Figures } from '../measuring/samples.ts';
import { quartileRatio } from '../measuring/statistics.ts';
import { atLeast, type Suite, type SuiteOrder, type SuiteResult } from '../suite.ts';
import { startEmulator } from '../surroundings/emulator.ts';
import { startOwnChromium } from '../surroundings/own-chromium.ts';
import { CdpSocket } from './cdp-socket.ts';
import { stepsTable } from './steps-table.ts';

const SIDES = ['direct', 'hop', 'relay'];
const EVALUATES = 500;
const AT_ONCE = 20;
const MEGABYTES = 50;
const STEPS = {
  evaluates: `${EVALUATES} page.evaluate, one after another`,
  rawOneByOne: `${EVALUATES} Runtime.evaluate without Playwright, one after another`,
  rawAtOnce: `${EVALUATES} Runtime.evaluate without Playwright, ${AT_ONCE} at once`,
  fromPage: `${MEGABYTES} MB from a page`,
  toPage: `${MEGABYTES} MB to a page`,
};
const GOAL = 0.97;
const RATIOS = [
  ['hop', 'direct'],
  ['relay', 'direct'],
  ['relay', 'hop'],
] as const;
const START_TIMEOUT_MS = 10_000;

/** What the emulator's relay costs beside Chromium's own port. */
export const relaySuite: Suite = {
  name: 'relay',
  title: "The emulator's relay",
  about:
    "CDP through the emulator beside Chromium's own DevTools port, on two Chromiums with the same arguments; ms. `hop` is a process in front of that port that forwards bytes unread: the fastest possible intermediary. A ratio is of speed, at the lower quartiles: 1 is equal, less is slower.",
  rounds: 20,
  run,
};

async function run(order: SuiteOrder): Promise<SuiteResult> {
  const emulator = await startEmulator();
  const own = await startOwnChromium(order.chromium);
  const hop = await startHop(own.cdpUrl);
  try {
    const { cdpUrl } = await emulator.client.createSession();
    if (!cdpUrl) throw new Error('The emulator gave no cdpUrl.');
    const addresses: Record<string, string> = { direct: own.cdpUrl, hop: hop.cdpUrl, relay: cdpUrl };
    const measure = (side: string) => measureLink(addresses[side] ?? '');
    const samples = await interleave(SIDES, order, measure);
    const speed = (step: string) => quartileRatio(samples.values('direct', step), samples.values('relay', step));
    const { evaluates, fromPage, toPage } = STEPS;
    return {
      samples,
      tables: [stepsTable(Object.values(STEPS), SIDES, samples, RATIOS)],
      goals: [evaluates, fromPage, toPage].map((step) =>
        atLeast(`speed of the relay, ${step}`, speed(step), GOAL, '', 3),
      ),
    };
  } finally {
    hop.stop();
    await own.stop();
    await emulator.stop();
  }
}

/** The same browser through a process that does nothing. */
async function startHop(cdpUrl: string) {
  const file = fileURLToPath(new URL('./bare-hop.js', import.meta.url));
  const child = spawn(process.execPath, [file, new URL(cdpUrl).port], { stdio: ['pipe', 'pipe', 'inherit'] });
  const { port } = (await firstJsonLine(child.stdout, START_TIMEOUT_MS)) as { port: number };
  const address = new URL(cdpUrl);
  address.port = String(port);
  return { cdpUrl: address.href, stop: () => child.stdin.end() };
}

async function measureLink(cdpUrl: string): Promise<Figures> {
  return { ...(await withPlaywright(cdpUrl)), ...(await withoutPlaywright(cdpUrl)) };
}

async function withPlaywright(cdpUrl: string): Promise<Figures> {
  const browser = await chromium.connectOverCDP(cdpUrl);
  const context = await browser.newContext();
  const page = await context.newPage();
  const evaluates = await timed(async () => {
    for (let index = 0; index < EVALUATES; index += 1) await page.evaluate('6 * 7');
  });
  await context.close();
  await browser.close();
  return { [STEPS.evaluates]: evaluates };
}

async function withoutPlaywright(cdpUrl: string): Promise<Figures> {
  const socket = await CdpSocket.open(cdpUrl);
  const { targetId, sessionId } = await socket.openPage();
  const evaluate = (expression: string) =>
    socket.send('Runtime.evaluate', { expression, returnByValue: true }, sessionId);
  const inTurn = async (count: number) => {
    for (let index = 0; index < count; index += 1) await evaluate('6 * 7');
  };
  const size = MEGABYTES * 1_000_000;
  const times = {
    [STEPS.rawOneByOne]: await timed(() => inTurn(EVALUATES)),
    [STEPS.rawAtOnce]: await timed(async () => {
      await Promise.all(Array.from({ length: AT_ONCE }, () => inTurn(EVALUATES / AT_ONCE)));
    }),
    [STEPS.fromPage]: await timed(async () => {
      const { result } = (await evaluate(`'x'.repeat(${size})`)) as { result: { value: string } };
      if (result.value.length !== size) throw new Error(`${result.value.length} bytes came, not ${size}`);
    }),
    [STEPS.toPage]: await timed(async () => {
      const { result } = (await evaluate(`'${'x'.repeat(size)}'.length`)) as { result: { value: number } };
      if (result.value !== size) throw new Error(`${result.value} bytes arrived, not ${size}`);
    }),
  };
  await socket.send('Target.closeTarget', { targetId });
  await socket.close();
  return times;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
