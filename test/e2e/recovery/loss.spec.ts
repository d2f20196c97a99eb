import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments, reportedTests, startPlaywright } from '../../support/e2e/run-playwright.ts';
import { wrappedConfig } from '../../support/e2e/suites.ts';

/** A browser that is lost in mid-test fails that test quickly and once, says why, and the next test runs on a fresh one. */

const SUITE = `
import { test, expect } from 'poolwright';
test('loses it', async ({ page, hostedSession }) => {
  await page.goto('/');
  console.log('READY ' + hostedSession.sessionId);
  await page.waitForSelector('never');
});
test('goes on', async ({ page }) => { await page.goto('/'); });`;

interface Browser {
  /** Stops its session at the service. */
  stop(): Promise<void>;
  /** Its process group, for `kill`: what a distribution calls Chromium may be a script that starts it. */
  group: number;
}

const ways = [
  {
    name: 'stopped by somebody',
    options: '{}',
    lose: ({ stop }: Browser) => stop(),
    says: /status "completed" at the service\): somebody stopped it before its time/,
    endReason: 'lost',
    within: 10_000,
  },
  {
    name: 'crashed',
    options: '{}',
    lose: ({ group }: Browser) => process.kill(group, 'SIGKILL'),
    says: /status "error" at the service\): the browser crashed/,
    endReason: 'lost',
    within: 10_000,
  },
  {
    name: 'hung',
    options: '{}',
    lose: ({ group }: Browser) => process.kill(group, 'SIGSTOP'),
    says: /it did not answer for 15 s; .*the browser hung, or the network to it was cut/,
    endReason: 'lost',
    within: 40_000,
  },
  {
    name: 'at the end of its lease',
    options: `{ pool: 'e2e' }`,
    lose: () => undefined,
    says: /its lease was over: the test took longer than what was left of the pool's `leaseTimeoutSeconds`/,
    endReason: 'lost',
    within: 45_000,
  },
];

for (const { name, options, lose, says, endReason, within } of ways) {
  test(name, async ({ newConsumer, service, site }) => {
    if (options.includes('pool')) await service.client.createPool({ name: 'e2e', size: 1, leaseTimeoutSeconds: 30 });
    const consumer = await newConsumer();
    await consumer.write({
      'playwright.config.ts': wrappedConfig(options, 'timeout: 120_000,'),
      'tests/a.spec.ts': SUITE,
    });
    const run = startPlaywright(consumer, ['--workers=1'], { ...service.env, SITE_URL: site.url });
    await run.printed(/READY \S+/);
    const sessionId = /READY (\S+)/.exec(run.output())?.[1] ?? '';
    const since = Date.now();
    const [leader = 0] = service.emulator.browserPids();
    await lose({ stop: () => service.client.stopSession(sessionId), group: -leader });
    expect((await run.exit).code).toBe(1);
    expect(Date.now() - since).toBeLessThan(within + 20_000); // the second test and the end of the run are in it

    const [lost, next] = await reportedTests(consumer);
    expect(lost?.results).toHaveLength(1);
    expect(lost?.results[0]?.status).toBe('failed'); // not "timedOut"
    expect(lost?.results[0]?.duration).toBeLessThan(within);
    const said = (lost?.results[0]?.errors ?? []).map(({ message }) => message ?? '');
    const ours = said.filter((message) => message.includes('The hosted browser was lost during this test'));
    expect(ours, said.join('\n')).toHaveLength(1);
    expect(ours[0]).toContain(`session ${sessionId} was lost`);
    expect(ours[0]).toMatch(says);
    const [attachment] = hostedAttachments(lost?.results[0]);
    expect(attachment).toMatchObject({ sessionId, infrastructureFailure: expect.stringMatching(says) });

    expect(next?.results[0]?.status).toBe('passed');
    expect(hostedAttachments(next?.results[0])).toMatchObject([{ infrastructureFailure: null }]);
    expect(hostedAttachments(next?.results[0])[0]?.sessionId).not.toBe(sessionId);
    const record = JSON.parse(await consumer.read('test-results/poolwright/run.json'));
    expect(record.sessions[0]).toMatchObject({ sessionId, endReason, endConfirmed: true });
    expect(run.output()).toContain('browser lost');
    expect(await service.running()).toEqual([]);
  });
}

test('one that was fetched ahead and has died meanwhile is not given to the next test', async ({
  newConsumer,
  service,
  site,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig("{ reuse: 'test' }", 'timeout: 120_000,'),
    'tests/a.spec.ts': `
import { test } from 'poolwright';
test('runs on', async ({ page, hostedSession }) => {
  await page.goto('/');
  // Nothing that a user sees tells when the worker is connected to it, and when it knows that it is not any more.
  const ahead = await globalThis[Symbol.for('poolwright.worker')].hosted.ahead;
  console.log('READY ' + hostedSession.sessionId + ' ' + ahead.lease.sessionId);
  await ahead.closed;
});
test('goes on', async ({ page }) => { await page.goto('/'); });`,
  });
  const run = startPlaywright(consumer, ['--workers=1'], { ...service.env, SITE_URL: site.url });
  await run.printed(/READY \S+ \S+/);
  const [, first = '', dead = ''] = /READY (\S+) (\S+)/.exec(run.output()) ?? [];
  await service.client.stopSession(dead);
  expect((await run.exit).code, run.output()).toBe(0);
  const served = (await reportedTests(consumer)).map(({ results }) => hostedAttachments(results[0])[0]?.sessionId);
  expect(served).toEqual([first, expect.any(String)]);
  expect(served).not.toContain(dead);
  expect(await service.running()).toEqual([]);
});
