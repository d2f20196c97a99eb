import { writeFile } from 'node:fs/promises';
import { timelinePage } from 'poolwright/reporter';
import type { RunRecord } from '../../../src/record/run-record.ts';
import { mergeRecords } from '../../../src/record/shards/merge-records.ts';
import { violationsOn } from '../../support/accessibility.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { readCheckedRuns } from '../../support/unit/advise/checked-runs.ts';
import { aRecord, aSession, aTest } from '../../support/unit/records.ts';

/** The chart of how many browsers a run needs, on the timeline page of real runs. */

const test = base.extend<{ open(record: RunRecord): Promise<void> }>({
  open: async ({ page }, use) => {
    const said: string[] = [];
    page.on('console', (message) => said.push(message.text()));
    page.on('pageerror', (error) => said.push(String(error)));
    await use(async (record) => {
      const file = test.info().outputPath('timeline.html');
      await writeFile(file, timelinePage(record));
      await page.goto(`file://${file}`);
    });
    expect(said).toEqual([]);
  },
});

const records = (workers: number, shards: number) =>
  readCheckedRuns().find((run) => run.workers === workers && run.shards === shards)?.records ?? [];

for (const { colorScheme, width } of [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 420 },
] as const) {
  test(`advice › is a chart and a table: ${colorScheme}, ${width} px`, async ({ page, open }) => {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    await open(records(2, 1)[0] ?? aRecord({}));
    const section = page.getByRole('region', { name: 'How many browsers?' });
    const table = section.getByRole('table', { name: 'Expected, by simulation' });
    const rows = await table.locator('tbody tr').count();
    expect(rows).toBeGreaterThan(2);
    await expect(table.getByRole('row', { name: /\(recommended\)/ })).toHaveCount(1);
    const image = section.getByRole('img');
    await expect(image).toHaveAccessibleName(/^expected time by number of browsers: 1: \d.*; recommended: \d/);
    await expect(section.locator('.plot > .dot')).toHaveCount(rows);
    await expect(section.locator('.plot > .dot.chosen')).toHaveCount(1);

    // The position of a dot shows its values: further right means more browsers, further up means longer runs.
    const boxes = await section.locator('.plot > .dot').evaluateAll((dots) =>
      dots.map((dot) => {
        const { left, width: across, top, height } = dot.getBoundingClientRect();
        return { x: left + across / 2, y: top + height / 2 };
      }),
    );
    const [first, second, ...others] = boxes;
    expect(second?.x).toBeGreaterThan(first?.x ?? Number.NaN);
    expect(second?.y).toBeGreaterThan(first?.y ?? Number.NaN);
    const plot = await section.locator('.plot').boundingBox();
    for (const { x, y } of [first, second, ...others].flatMap((box) => box ?? [])) {
      expect(x).toBeGreaterThanOrEqual((plot?.x ?? 0) - 1);
      expect(x).toBeLessThanOrEqual((plot?.x ?? 0) + (plot?.width ?? 0) + 1);
      expect(y).toBeGreaterThanOrEqual((plot?.y ?? 0) - 1);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    expect(await violationsOn(page)).toEqual([]);
    await section.scrollIntoViewIfNeeded();
    const file = test.info().outputPath('advice.png');
    await page.screenshot({ path: file, fullPage: true });
    await test.info().attach(`${colorScheme} ${width}`, { path: file, contentType: 'image/png' });
  });
}

test('advice › is shown for merged shards, but not for a crashed run or a single test', async ({ page, open }) => {
  const section = page.getByRole('region', { name: 'How many browsers?' });
  await open(mergeRecords(records(2, 2)));
  await expect(section.getByRole('columnheader', { name: 'shards' })).toBeVisible();
  await open({ ...(records(2, 1)[0] ?? aRecord({})), endedAt: null });
  await expect(page.locator('.chart .test')).toHaveCount(29);
  await expect(section).toHaveCount(0);
  await open(aRecord({ sessions: [aSession({ tests: [aTest({})] })] }));
  await expect(section).toHaveCount(0);
});
