import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { WebSocket } from 'ws';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { hostedAttachments, reportedTests } from '../../support/e2e/run-playwright.ts';
import { recordOf } from '../../support/e2e/runner-records.ts';
import type { TestService } from '../../support/e2e/service.ts';

/**
 * A browser that is lost mid-test fails that test quickly and once, with the reason, and the next test runs on a fresh
 * browser.
 */

const SUITE = `
import { test, expect } from 'poolwright';
test('loses it', async ({ page, hostedSession }, testInfo) => {
  await page.goto('/');
  console.log('READY ' + testInfo.project.name + ' ' + hostedSession.sessionId);
  await page.waitForSelector('never');
});
test('goes on', async ({ page }) => { await page.goto('/'); });`;

/** Returns the process group of a session's browser: the Chromium of a distribution may be a script that starts it. */
async function groupOf({ client }: TestService, sessionId: string): Promise<number> {
  const { cdpUrl } = await client.getSession(sessionId);
  const socket = new WebSocket(String(cdpUrl));
  await once(socket, 'open');
  socket.send(JSON.stringify({ id: 1, method: 'SystemInfo.getProcessInfo' }));
  const [answer] = await once(socket, 'message');
  socket.terminate();
  const { processInfo }: { processInfo: { type: string; id: number }[] } = JSON.parse(String(answer)).result;
  const browser = processInfo.find(({ type }) => type === 'browser')?.id;
  const stat = readFileSync(`/proc/${browser}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

/**
 * One project per kind of loss, all at the same time: how its browser is lost, and within how many ms the test must
 * fail.
 */
const WAYS = {
  stopped: {
    lose: async (service: TestService, sessionId: string) => void (await service.client.stopSession(sessionId)),
    says: /status "completed" at the service\): it was stopped early/,
    within: 10_000,
  },
  crashed: {
    lose: async (service: TestService, sessionId: string) =>
      void process.kill(-(await groupOf(service, sessionId)), 'SIGKILL'),
    says: /status "error" at the service\): the browser crashed/,
    within: 10_000,
  },
  hung: {
    lose: async (service: TestService, sessionId: string) =>
      void process.kill(-(await groupOf(service, sessionId)), 'SIGSTOP'),
    says: /it did not respond for 15 s; .*the browser hung, or the network to it was cut/,
    within: 40_000,
  },
  leased: {
    lose: async () => undefined,
    says: /its lease ended: the test took longer than the rest of the pool's `leaseTimeoutSeconds`/,
    within: 45_000,
  },
};

test('loss › fails the test with the reason: stopped, crashed, hung, expired', async ({ startSuite, service }) => {
  await service.client.createPool({ name: 'e2e', size: 1, leaseTimeoutSeconds: 30 });
  const projects = Object.keys(WAYS).map(
    (name) => `{ name: '${name}'${name === 'leased' ? ", use: { hosted: { pool: 'e2e' } }" : ''} }`,
  );
  const run = await startSuite({
    config: `timeout: 120_000, projects: [${projects}],`,
    tests: SUITE,
    args: ['--workers=4'],
  });
  const sessionOf = (name: string) => new RegExp(`READY ${name} (\\S+)`).exec(run.output())?.[1] ?? '';
  await Promise.all(
    Object.entries(WAYS).map(async ([name, { lose }]) => {
      await run.printed(new RegExp(`READY ${name} \\S+`));
      await lose(service, sessionOf(name));
    }),
  );
  expect((await run.exit).code).toBe(1);

  const tests = await reportedTests(run.consumer);
  const record = await recordOf(run.consumer);
  for (const [name, { says, within }] of Object.entries(WAYS)) {
    const sessionId = sessionOf(name);
    const [lost, next] = tests.filter(({ project }) => project === name);
    expect(lost?.results, name).toHaveLength(1);
    expect(lost?.results[0]?.status, name).toBe('failed'); // not "timedOut"
    expect(lost?.results[0]?.duration, name).toBeLessThan(within);
    const said = (lost?.results[0]?.errors ?? []).map(({ message }) => message ?? '');
    const ours = said.filter((message) => message.includes('The hosted browser was lost during this test'));
    expect(ours, said.join('\n')).toHaveLength(1);
    expect(ours[0]).toContain(`session ${sessionId} was lost`);
    expect(ours[0]).toMatch(says);
    const [attachment] = hostedAttachments(lost?.results[0]);
    expect(attachment).toMatchObject({ sessionId, infrastructureFailure: expect.stringMatching(says) });

    expect(next?.results[0]?.status, name).toBe('passed');
    expect(hostedAttachments(next?.results[0])).toMatchObject([{ infrastructureFailure: null }]);
    expect(hostedAttachments(next?.results[0])[0]?.sessionId).not.toBe(sessionId);
    expect(record.sessions.find((session) => session.sessionId === sessionId)).toMatchObject({
      endReason: 'lost',
      endConfirmed: true,
    });
  }
  expect(run.output()).toContain('browser lost');
  expect(await service.running()).toEqual([]);
});

test('loss › gives the next test no prefetched browser that has died', async ({ startSuite, service }) => {
  const run = await startSuite({
    options: "{ reuse: 'test' }",
    config: 'timeout: 120_000,',
    tests: `
import { test } from 'poolwright';
test('runs on', async ({ page, hostedSession }) => {
  await page.goto('/');
  // Users cannot see when the worker has connected to it, or when the worker knows that the connection is lost.
  const ahead = await globalThis[Symbol.for('poolwright.worker')].hosted.prefetched;
  console.log('READY ' + hostedSession.sessionId + ' ' + ahead.lease.sessionId);
  await ahead.closed;
});
test('goes on', async ({ page }) => { await page.goto('/'); });`,
    args: ['--workers=1'],
  });
  await run.printed(/READY \S+ \S+/);
  const [, first = '', dead = ''] = /READY (\S+) (\S+)/.exec(run.output()) ?? [];
  await service.client.stopSession(dead);
  expect((await run.exit).code, run.output()).toBe(0);
  const served = (await reportedTests(run.consumer)).map(({ results }) => hostedAttachments(results[0])[0]?.sessionId);
  expect(served).toEqual([first, expect.any(String)]);
  expect(served).not.toContain(dead);
  expect(await service.running()).toEqual([]);
});
