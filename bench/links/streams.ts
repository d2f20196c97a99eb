import { type Browser, chromium } from 'playwright-core';
import { openTransport } from '../../src/cdp/pipeline.ts';
import { parseNetworkRules } from '../../src/options/network-rules.ts';
import { interleave } from '../measuring/interleave.ts';
import type { Samples } from '../measuring/samples.ts';
import { median, pairedRatios, spreadOf } from '../measuring/statistics.ts';
import { decimals, type Table } from '../report/table.ts';
import type { Suite, SuiteOrder, SuiteResult } from '../suite.ts';
import { startEmulator } from '../surroundings/emulator.ts';
import { startSite } from '../surroundings/site.ts';

const MEGABYTES = 30;
const SIDES = ['local', 'poolwright'] as const;
/** How a page reads the response, and its source there. */
const READS = {
  'in parts, as they come': `for (let part = await reader.read(); !part.done; part = await reader.read()) size += part.value.byteLength;`,
  'whole, after it has come': `size = (await response.arrayBuffer()).byteLength;`,
};

/** How fast one response of a server on this machine reaches a page. */
export const streamsSuite: Suite = {
  name: 'streams',
  title: 'Streams',
  about: `A page fetches one response of ${MEGABYTES} MB, without a length, from a server on this machine: in a browser that Playwright launches (\`local\`) and in a hosted one through \`exposeNetwork\` (\`poolwright\`); MB/s, median and quartiles. The ratio is the median of the ratios within each round: 1 is equal, less is slower.`,
  rounds: 9,
  run,
};

async function run(order: SuiteOrder): Promise<SuiteResult> {
  const emulator = await startEmulator();
  const site = await startSite();
  try {
    const { cdpUrl } = await emulator.client.createSession();
    if (!cdpUrl) throw new Error('The emulator gave no cdpUrl.');
    const proxiedHosts = parseNetworkRules(new URL(site.url).host);
    const samples = await interleave(SIDES, order, async (side) => {
      const browser =
        side === 'local'
          ? await chromium.launch({ executablePath: order.chromium })
          : await chromium.connectOverCDP(await openTransport(cdpUrl, { proxiedHosts }));
      try {
        return await speeds(browser, site.url);
      } finally {
        await browser.close();
      }
    });
    return { samples, tables: [table(samples)], goals: [] };
  } finally {
    site.close();
    await emulator.stop();
  }
}

/** MB/s of each way to read. */
async function speeds(browser: Browser, site: string): Promise<Record<string, number>> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(site);
  const speed: Record<string, number> = {};
  for (const [how, reads] of Object.entries(READS)) {
    const ms = await page.evaluate<number>(`(async () => {
      const start = performance.now();
      const response = await fetch('/stream?bytes=${MEGABYTES * 1_000_000}');
      let size = 0;
      const reader = ${reads.includes('reader') ? 'response.body.getReader()' : 'null'};
      ${reads}
      if (size !== ${MEGABYTES * 1_000_000}) throw new Error(size + ' bytes came');
      return performance.now() - start;
    })()`);
    speed[how] = (MEGABYTES * 1_000) / ms;
  }
  return speed;
}

function table(samples: Samples): Table {
  return {
    head: ['the page reads it', ...SIDES.map((side) => `${side}, MB/s`), 'poolwright : local'],
    rows: Object.keys(READS).map((how) => {
      const [local, ours] = [samples.values('local', how), samples.values('poolwright', how)];
      return [how, ...[local, ours].map(spread), decimals(median(pairedRatios(ours, local)), 3)];
    }),
  };
}

function spread(values: readonly number[]): string {
  const { median, lower, upper } = spreadOf(values);
  return `${decimals(median, 1)} (${decimals(lower, 1)} to ${decimals(upper, 1)})`;
}
