import { type Browser, chromium } from '@playwright/test';
import { findChromiums } from '../../../src/emulator/chromium/find-chromium.ts';
import { startWatchServer } from '../../../src/watch/server/watch-server.ts';
import { violationsOn } from '../../support/accessibility.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { scene } from '../../support/watch/scenes.ts';
import { aFinishedTest, aSlot, ScriptedRun, ScriptedRuns } from '../../support/watch/scripted-runs.ts';

/** The page of `poolwright watch` with the keyboard and a screen reader, in both browsers. */

/** Full Chromium has no old headless mode. */
const ARGUMENTS = { shell: ['--no-sandbox'], full: ['--no-sandbox', '--headless=new'] };

for (const kind of ['shell', 'full'] as const) {
  const test = base.extend<object, { reader: Browser }>({
    reader: [
      async ({}, use) => {
        const { [kind]: found } = await findChromiums();
        if (!found) throw new Error(`there is no ${kind} Chromium`);
        const browser = await chromium.launch({
          executablePath: found.path,
          args: ARGUMENTS[kind],
          ...(kind === 'full' && { ignoreDefaultArgs: ['--headless', '--headless=old'] }),
        });
        await use(browser as Browser);
        await browser.close();
      },
      { scope: 'worker' },
    ],
  });

  const tag = kind === 'full' ? ['@slow'] : [];
  test(`${kind}: everything is within reach of the keyboard, announced, and there after the end of the run`, {
    tag,
  }, async ({ page }) => {
    const jpeg = await scene(page, 1);
    const runs = new ScriptedRuns();
    const server = await startWatchServer(runs);
    try {
      await page.setViewportSize({ width: 360, height: 780 });
      await page.goto(server.address('test'));
      const run = new ScriptedRun({ slots: [aSlot(), aSlot({ slot: 1 })] });
      runs.add(run);
      await expect.poll(() => run.demands.at(-1)).toEqual({ 0: 'small', 1: 'small' });
      await runs.picture(run, { data: jpeg });

      await page.keyboard.press('Tab');
      const tile = page.getByRole('button', { name: 'Enlarge slot 0' });
      await expect(tile).toBeFocused();
      await page.keyboard.press('Enter');
      await expect(page.getByRole('dialog', { name: 'checkout › pays with a saved card' })).toBeVisible();
      await page.keyboard.press('ArrowRight');
      await expect.poll(() => run.demands.at(-1)).toEqual({ 1: 'large' });
      await page.keyboard.press('ArrowLeft');
      await expect.poll(() => run.demands.at(-1)).toEqual({ 0: 'large' });

      const status = page.getByRole('status');
      runs.changeSlot(run, 0, { hold: { reason: 'Log in by hand', until: Date.now() + 62_000 } });
      await expect(status).toHaveText('On hold: checkout › pays with a saved card: Log in by hand');
      await runs.picture(run, { data: jpeg });
      for (const time of [/^Continues by itself in 1:0[0-2]\./, /^Continues by itself in 0:5\d\./])
        await expect(page.getByRole('dialog').getByText(time)).toBeVisible();
      await page.getByRole('textbox').focus();
      await page.keyboard.type('4x');
      await page.keyboard.press('Control+Shift+Enter');
      await expect(page.getByRole('button', { name: 'Close' })).toBeFocused();
      await expect
        .poll(() => run.inputs.flatMap(({ input }) => (input.kind === 'key' && input.type === 'down' ? input.key : [])))
        .toEqual(['4', 'x', 'Control', 'Shift']);
      expect(await violationsOn(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await expect(tile).toBeFocused();

      runs.finish(run, aFinishedTest({ title: 'cart › pays', status: 'failed', ok: false }), jpeg);
      await expect(status).toHaveText('Failed: cart › pays');
      runs.change(run, { endedAt: Date.now(), slots: [] });
      await expect(status).toHaveText('web shop ended: 0 passed, 1 failed');
      await expect(page.getByText(/^ended after [1-9]:\d\d$/)).toBeVisible();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      await page.getByRole('button', { name: 'Enlarge the last picture of cart › pays' }).press('Enter');
      await expect(page.getByRole('img', { name: 'The last picture of the test' })).toHaveJSProperty(
        'naturalWidth',
        1280,
      );
    } finally {
      await server.close();
    }
    await expect(page.getByRole('alert')).toContainText('Connection lost');
  });
}
