import { Samples } from '../measuring/samples.ts';
import { decimals } from '../report/table.ts';
import { atMost, type Suite, type SuiteOrder, type SuiteResult } from '../suite.ts';
import { startEmulator } from '../surroundings/emulator.ts';
import { outsideAddress, startSite } from '../surroundings/site.ts';
import { connect, type Way } from './connect.ts';
import { smallTest } from './one-test.ts';
import { LATEST, loadPuppeteer } from './versions.ts';

const ROUND_TRIP_MS = 100;
const TESTS = 100;
const WAYS: Way[] = ['plain', 'ahead: false', 'poolwright'];
const SECONDS = 'seconds';

/** What a whole suite takes far from the browser. */
export const smallTestsSuite: Suite = {
  name: 'puppeteer-small-100ms',
  title: `${TESTS} small Puppeteer tests, browsers ${ROUND_TRIP_MS} ms away`,
  about: `Each test opens a context and a page, navigates, reads, clicks, and reads again, one after another on one connection of Puppeteer ${LATEST}. The sides run at the same time, each on its own browser: they only wait.`,
  rounds: 1,
  run,
};

async function run({ signal, progress, rounds }: SuiteOrder): Promise<SuiteResult> {
  const emulator = await startEmulator(0, ROUND_TRIP_MS);
  const site = await startSite(outsideAddress());
  try {
    const samples = new Samples();
    const puppeteer = await loadPuppeteer(LATEST);
    for (let round = 1; round <= rounds; round += 1) {
      progress(`round ${round} of ${rounds}`);
      await Promise.all(
        WAYS.map(async (way) => {
          const { cdpUrl = null } = await emulator.client.createSession();
          const start = performance.now();
          const browser = await connect(puppeteer, way, cdpUrl ?? '');
          for (let test = 0; test < TESTS; test += 1) {
            signal.throwIfAborted();
            await smallTest(browser, site.url);
          }
          await browser.disconnect();
          samples.add(way, { [SECONDS]: (performance.now() - start) / 1000 });
        }),
      );
    }
    const [plain = Number.NaN] = samples.values('plain', SECONDS);
    const ratio = (way: Way) => (samples.values(way, SECONDS)[0] ?? Number.NaN) / plain;
    return {
      samples,
      tables: [
        {
          head: ['side', 'seconds', '× plain'],
          rows: WAYS.map((way) => [way, decimals(plain * ratio(way), 1), decimals(ratio(way), 3)]),
        },
      ],
      goals: [atMost('poolwright × plain', ratio('poolwright'), 0.5, '', 3)],
    };
  } finally {
    site.close();
    await emulator.stop();
  }
}
