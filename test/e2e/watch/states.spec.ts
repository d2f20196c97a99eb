import type { Page } from '@playwright/test';
import { startWatchServer, type WatchServer } from '../../../src/watch/server/watch-server.ts';
import { violationsOn } from '../../support/accessibility.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { fullLength } from '../../support/property-runs.ts';
import { scene } from '../../support/watch/scenes.ts';
import { ScriptedRun, ScriptedRuns } from '../../support/watch/scripted-runs.ts';
import { addRun, STATES, type State, showPictures } from './states.ts';

/**
 * The page of `poolwright watch` in every state, light and dark, on desktops and phones: accessible, and without
 * anything that is cut off. Its screenshots are in the output directory of each test.
 */

const ALL_VARIANTS: readonly (readonly [width: number, colorScheme: 'dark' | 'light'])[] = [
  [1280, 'light'],
  [360, 'dark'],
  [1280, 'dark'],
  [360, 'light'],
];
/** The colours are the same at each width. */
const VARIANTS = fullLength(ALL_VARIANTS, ALL_VARIANTS.slice(0, 2));
/** One page has a run in each state. With many slots, one state has what can be cut off. */
const PAGES: readonly { states: readonly State[]; count: number }[] = fullLength(
  STATES.flatMap((state) => [1, 20].map((count) => ({ states: [state], count }))),
  [
    { states: STATES, count: 1 },
    { states: ['finished'], count: 20 },
  ],
);

interface Fixtures {
  runs: ScriptedRuns;
  server: WatchServer;
}

const test = base.extend<Fixtures, { pictures: Buffer[] }>({
  runs: async ({}, use) => {
    await use(new ScriptedRuns());
  },
  server: async ({ runs, page }, use) => {
    const server = await startWatchServer(runs);
    await page.goto(server.address('test'));
    await expect(page.getByRole('heading', { name: 'poolwright watch' })).toBeVisible();
    await use(server);
    await server.close();
  },
  pictures: [
    async ({ reader }, use) => {
      const page = await reader.newPage();
      const pictures: Buffer[] = [];
      for (let number = 0; number < 12; number += 1) pictures.push(await scene(page, number));
      await page.close();
      await use(pictures);
    },
    { scope: 'worker' },
  ],
});

// In one worker, which takes the pictures once.
test.describe.configure({ mode: 'default' });

test('empty', async ({ server, page }) => {
  expect(server.port).toBeGreaterThan(0);
  await expect(page.getByRole('heading', { name: 'No run yet' })).toBeVisible();
  await look(page, 'page');
});

for (const { states, count } of PAGES) {
  test(`${states.join(' and ')}, ${count} slots`, { tag: '@long' }, async ({ server, page, runs, pictures }) => {
    test.setTimeout(150_000 * (1 + states.length));
    expect(server.port).toBeGreaterThan(0);
    const picture = (number: number) => pictures[number % pictures.length] as Buffer;
    // All tiles are in view.
    await page.setViewportSize({ width: 1280, height: 6_000 });
    // Of the same suite, and over.
    runs.add(new ScriptedRun({ slots: [], endedAt: Date.now() }));
    const shown = [];
    for (const state of states) {
      const run = await addRun(runs, state, count, picture);
      shown.push({ state, run });
      await expect(page.getByRole('heading', { name: run.view.name })).toHaveCount(shown.length + 1);
      const demanded = () => Object.keys(run.demands.at(-1) ?? {}).length;
      await expect.poll(demanded).toBe(run.view.slots.length);
      await showPictures(runs, run, picture);
      // The newest run is the first one.
      const failed = page.locator('.run').first().locator('.failed-tests .state').first();
      if (state === 'failed' || state === 'finished') await expect(failed).toHaveCSS('color', 'rgb(178, 60, 0)');
    }
    await look(page, 'page');
    for (const [n, { state, run }] of shown.toReversed().entries()) {
      const isLive = state !== 'finished' && state !== 'failed';
      const name = isLive ? 'Enlarge slot 0' : /^Enlarge the last picture/;
      await page.locator('.run').nth(n).getByRole('button', { name }).first().click();
      await expect(page.getByRole('dialog')).toBeVisible();
      if (isLive) {
        await expect.poll(() => run.demands.at(-1)).toEqual({ 0: 'large' });
        await showPictures(runs, run, picture);
      }
      // It covers the page, however many slots that has.
      if (fullLength(true, count === 1)) await look(page, `${state}-enlarged`);
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toBeHidden();
    }
  });
}

/** Checks what is on the page in its variants, and takes a screenshot of each. */
async function look(page: Page, name: string): Promise<void> {
  for (const [width, colorScheme] of VARIANTS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: width < 600 ? 780 : 900 });
    expect(await violationsOn(page), `${width} px, ${colorScheme}`).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
    if (name === 'page') await page.setViewportSize({ width, height: Math.min(height, 8_000) });
    await page.screenshot({ path: test.info().outputPath(`${name}-${width}-${colorScheme}.png`) });
  }
}
