import { statSync } from 'node:fs';
import { expect, test } from '../test.ts';

test.use({ trace: 'off' }); // the runner's own would be in the way

test('tracing by hand', async ({ browser, baseURL }, testInfo) => {
  const context = await browser.newContext({ baseURL });
  await context.tracing.start({ snapshots: true, screenshots: true });
  await (await context.newPage()).goto('/');
  await context.tracing.stop({ path: testInfo.outputPath('by-hand.zip') });
  expect(statSync(testInfo.outputPath('by-hand.zip')).size).toBeGreaterThan(1_000);
  await context.close();
});
