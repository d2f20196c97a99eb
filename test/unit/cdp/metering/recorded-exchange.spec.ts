import { expect } from '@playwright/test';
import { Meter } from '../../../../src/cdp/figures.ts';
import { play, recordingOf, test } from '../../../support/unit/cdp/recordings/play.ts';

/** The figure for an exchange of a real Playwright with a real browser. */

test('metering: counts as many bytes as the site has sent', async ({ names }) => {
  const entries = await recordingOf('metering');
  const meter = new Meter();
  await play('metering', entries, names, meter);
  const sent = entries.find(([where]) => where === 'site sent')?.[1] as number;
  expect(sent).toBeGreaterThan(100_000);
  expect(Math.abs(meter.total() / sent - 1)).toBeLessThan(0.02);
});
