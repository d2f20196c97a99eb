import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { Meter } from '../src/cdp/metering/meter.ts';
import { openTransport } from '../src/cdp/open-transport.ts';
import { tableLines } from '../src/cli/print.ts';
import { startEmulator } from '../src/emulator/index.ts';
import { ServiceClient } from '../src/service/client.ts';

/**
 * What our transport costs: the same steps by address, through the transport, and through the transport with metering,
 * in turns on one browser. What else the machine does only ever adds time, so the ratios are of the faster quarter of
 * the rounds: their lower quartiles.
 */

/** No slower than this, compared with the address form and with metering off. */
const LIMITS = { transport: 0.98, metering: 0.99 };
const ROUNDS = Number(process.argv[2] ?? 60);
const ASSETS = 40;

const WAYS = ['address', 'transport', 'metered'] as const;
type Way = (typeof WAYS)[number];
const STEPS = [
  'connect',
  'newContext + newPage',
  `goto, ${ASSETS} assets`,
  'click',
  'screenshot',
  '50 evaluate',
] as const;
type Step = (typeof STEPS)[number];
type Times = Record<Step, number>;

async function connect(way: Way, cdpUrl: string): Promise<Browser> {
  if (way === 'address') return await chromium.connectOverCDP(cdpUrl);
  const metering = way === 'metered' ? { meter: new Meter() } : {};
  return await chromium.connectOverCDP(await openTransport(cdpUrl, metering));
}

/** One round of all steps, in ms. */
async function measure(way: Way, cdpUrl: string, url: string): Promise<Times> {
  const times: Partial<Times> = {};
  const timed = async <T>(step: Step, run: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    const result = await run();
    times[step] = performance.now() - start;
    return result;
  };
  const [connecting, opening, loading, clicking, picturing, evaluating] = STEPS;
  const browser = await timed(connecting, () => connect(way, cdpUrl));
  const page = await timed(opening, async () => await (await browser.newContext()).newPage());
  await timed(loading, () => page.goto(url));
  await timed(clicking, () => page.click('button'));
  await timed(picturing, () => page.screenshot());
  await timed(evaluating, async () => {
    for (let index = 0; index < 50; index += 1) await page.evaluate('6 * 7');
  });
  await browser.close();
  return times as Times;
}

async function startSite() {
  const images = Array.from({ length: ASSETS }, (_, index) => `<script src="/${index}.js"></script>`).join('');
  const server = createServer((request, response) => {
    const isAsset = request.url?.endsWith('.js');
    response.setHeader('content-type', isAsset ? 'text/javascript' : 'text/html');
    response.setHeader('cache-control', 'no-store');
    response.end(isAsset ? `/*${'x'.repeat(5000)}*/` : `<link rel=icon href=data:,><button>Go</button>${images}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

/** The value below which this part of the values lies. */
function quantile(values: number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0;
}

function report(rounds: Record<Way, Times>[]): boolean {
  const of = (times: Times, step: Step | 'all') =>
    step === 'all' ? STEPS.reduce((sum, each) => sum + times[each], 0) : times[step];
  const times = (way: Way, step: Step | 'all', part: number) =>
    quantile(
      rounds.map((round) => of(round[way], step)),
      part,
    );
  const ratio = (step: Step | 'all', before: Way, after: Way) => times(before, step, 0.25) / times(after, step, 0.25);
  const rows = ([...STEPS, 'all'] as const).map((step) => ({
    medians: step,
    ...Object.fromEntries(WAYS.map((way) => [way, `${times(way, step, 0.5).toFixed(1)} ms`])),
    'transport : address': ratio(step, 'address', 'transport').toFixed(3),
    'metering on : off': ratio(step, 'transport', 'metered').toFixed(3),
  }));
  const table = tableLines(rows, ['medians', ...WAYS, 'transport : address', 'metering on : off']);
  console.log(`${rounds.length} rounds; ratios are of speed, 1 is equal, less is slower\n${table.join('\n')}`);
  const good =
    ratio('all', 'address', 'transport') >= LIMITS.transport && ratio('all', 'transport', 'metered') >= LIMITS.metering;
  console.log(`${good ? 'ok' : 'TOO SLOW'}: all steps need ≥ ${LIMITS.transport} and ≥ ${LIMITS.metering}`);
  return good;
}

const emulator = await startEmulator({ allowLoopback: true });
const client = new ServiceClient({ baseURL: emulator.baseURL, apiKey: emulator.apiKey });
const site = await startSite();
try {
  const { cdpUrl } = await client.createSession();
  if (!cdpUrl) throw new Error('The emulator gave no cdpUrl.');
  for (const way of WAYS) await measure(way, cdpUrl, site.url); // the first time is nobody's
  const rounds: Record<Way, Times>[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // Every order comes as often.
    const order = [0, 1, 2].map((offset) => WAYS[(round + (round % 2 ? 3 - offset : offset)) % 3] as Way);
    const results: Partial<Record<Way, Times>> = {};
    for (const way of order) results[way] = await measure(way, cdpUrl, site.url);
    rounds.push(results as Record<Way, Times>);
  }
  process.exitCode = report(rounds) ? 0 : 1;
} finally {
  site.close();
  await client.close();
  await emulator.stop();
}
