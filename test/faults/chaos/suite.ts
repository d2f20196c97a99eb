import type { Consumer } from '../../support/e2e/consumer.ts';
import { providerFile } from '../../support/e2e/provider-file.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';
import { NEIGHBOUR_FILES } from './neighbour.ts';
import type { ChaosPlan } from './plan.ts';

/** Timeout of one test of a random run, in ms. */
const TEST_MS = 40_000;

const BODIES: Record<ChaosPlan['browser'], string> = {
  stub: `
        await page.goto('about:blank');
        for (let n = 0; n < 5; n++) await page.evaluate('1 + 1');`,
  chromium: `
        await page.goto('/');
        await page.getByLabel('Name').fill('chaos');
        await page.getByRole('button', { name: 'Greet' }).click();
        await expect(page.getByRole('status')).toHaveText('Hi chaos');`,
};

/** Writes the suite of a random run; each of its tests prints the process that it runs in. */
export async function writeSuite(
  consumer: Consumer,
  { files, options, source, lists, browser, neighbour }: ChaosPlan,
): Promise<void> {
  const sources = files.map((tests, file) => {
    const bodies = tests.map(
      (passes, number) => `test('test ${number}', async ({ page }) => {
        console.log('AT ' + process.pid);${BODIES[browser]}
        expect(1).toBe(${passes ? 1 : 2});
      });`,
    );
    return [`tests/${file}.spec.ts`, suite(bodies.join('\n'))] as const;
  });
  await consumer.write({
    'playwright.config.ts': wrappedConfig(options, `timeout: ${TEST_MS},`),
    ...Object.fromEntries(sources),
    ...(source === 'provider' && { 'browsers.ts': providerFile({ limit: null, lists }) }),
    ...(neighbour ? NEIGHBOUR_FILES : {}),
  });
}
