import { resolve } from 'node:path';
import type { Consumer } from '../../support/e2e/consumer.ts';
import type { RunningCommand } from '../../support/e2e/run-command.ts';
import { startPlaywright } from '../../support/e2e/run-playwright.ts';
import { suite } from '../../support/e2e/suites.ts';
import { UNSHARE } from '../../support/requires.ts';
import type { Neighbour } from './plan.ts';

/** A run of the same suite in the same directory. The other run must not touch its browsers. */

const OUTPUT = 'neighbour-results';
/** Its minimum duration, in ms. */
const LIVES_MS = 6_000;

/** Its files, beside those of the main run. */
export const NEIGHBOUR_FILES = {
  'neighbour.config.ts': `
import { defineConfig } from '@playwright/test';
import { withHostedBrowsers } from 'poolwright';
export default defineConfig(withHostedBrowsers({
  testDir: './neighbour', outputDir: './${OUTPUT}', timeout: 60_000, reporter: [['list']],
}, {}));`,
  'neighbour/a.spec.ts': suite(`
for (const name of ['lives', 'lives on']) test(name, async ({ page }) => {
  console.log('NEIGHBOUR');
  const end = performance.now() + ${LIVES_MS / 2};
  while (performance.now() < end) {
    expect(await page.evaluate('1 + 1')).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
});`),
};

const CHECKOUT = resolve(import.meta.dirname, '../../..');
const NAMESPACE = [...UNSHARE, '--pid', '--fork', '--kill-child', '--mount-proc'];
/** An empty /tmp; a checkout below it stays where it is. `mount -c` takes "." as it is, not by its hidden path. */
const OWN_TMP = `cd "$0" && mount -t tmpfs tmpfs /tmp && mkdir -p "$TMPDIR" "$0" &&
  case "$0" in /tmp/*) mount -c --rbind . "$0" ;; esac && cd "$OLDPWD"`;
const shell = (line: string) => ['sh', '-c', `${line} && exec "$@"`, CHECKOUT];
const PLACES: Record<Neighbour['place'], readonly string[]> = {
  here: [],
  pids: NAMESPACE,
  tmp: [...NAMESPACE, ...shell(OWN_TMP)],
  host: [...NAMESPACE, '--uts', ...shell(`hostname elsewhere && ${OWN_TMP}`)],
};

/** Starts it; returns at once. */
export function startNeighbour(consumer: Consumer, { place }: Neighbour, env: Record<string, string>): RunningCommand {
  const { NODE_OPTIONS, ...rest } = env;
  // Processes of one machine share a clock.
  const clock: Record<string, string> = NODE_OPTIONS && place !== 'host' ? { NODE_OPTIONS } : {};
  const own = { ...rest, ...clock, PLAYWRIGHT_JSON_OUTPUT_NAME: 'neighbour.json' };
  return startPlaywright(consumer, ['--config=neighbour.config.ts', '--workers=1'], own, PLACES[place]);
}

/** Returns the harm done by the main run, one line each: the neighbour's tests must pass and keep their browsers. */
export async function harmOf(consumer: Consumer, neighbour: RunningCommand): Promise<string[]> {
  const { code } = await neighbour.exit;
  if (code !== 0) return [`the neighbour's run ended with ${code}:\n${neighbour.output()}`];
  const { sessions } = JSON.parse(await consumer.read(`${OUTPUT}/poolwright/run.json`)) as {
    sessions: { sessionId: string; endConfirmed: boolean | null; infrastructureFailures: string[] }[];
  };
  const harm = sessions.flatMap(({ sessionId, endConfirmed, infrastructureFailures }) => [
    ...infrastructureFailures.map((why) => `the neighbour's session ${sessionId}: ${why}`),
    ...(endConfirmed ? [] : [`the end of the neighbour's session ${sessionId} was not confirmed`]),
  ]);
  if (harm.length > 0) harm.push(await consumer.read(`${OUTPUT}/poolwright/broker.log`).catch(String));
  return harm;
}
