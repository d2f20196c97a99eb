import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { main } from './playwright.mjs';
import { setUp } from './set-up.mjs';

/** `node scripts/picture.mjs [run.json]`: the timeline in the documentation; default: of the last `npm run demo`. */

const RECORD = process.argv[2] ?? 'examples/basic/test-results/poolwright/run.json';
const PICTURE = 'docs/images/timeline.png';
/** CSS pixels. */
const WIDTH = 1000;
/** Above the heading that is left out. */
const MARGIN = 12;

await main(async () => {
  await setUp();
  const { findChromiums } = await import('../dist/emulator.js');
  const { timelinePage } = await import('../dist/reporter.js');
  const { shell, full } = await findChromiums();
  const directory = await mkdtemp(join(tmpdir(), 'poolwright-picture-'));
  const browser = await chromium.launch({ executablePath: (shell ?? full).path, args: ['--no-sandbox'] });
  try {
    const file = join(directory, 'timeline.html');
    await writeFile(file, timelinePage(JSON.parse(await readFile(RECORD, 'utf8'))));
    // A light page with a margin, so that it is readable on a dark page, too.
    const page = await browser.newPage({ viewport: { width: WIDTH, height: 700 }, colorScheme: 'light' });
    await page.goto(pathToFileURL(file).href);
    const slowest = await page.getByText('Slowest tests').boundingBox();
    const height = Math.floor(slowest.y) - MARGIN;
    await page.screenshot({ path: PICTURE, clip: { x: 0, y: 0, width: WIDTH, height } });
  } finally {
    await browser.close();
    await rm(directory, { recursive: true });
  }
  return 0;
});
