import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { recordRequests } from '../../support/e2e/requests.ts';
import { hostedAttachments, reportedTests, runPlaywright } from '../../support/e2e/run-playwright.ts';
import { startService } from '../../support/e2e/service.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';

/**
 * If no browser is available, a run waits until a request can succeed, shows the reason, and ends with a helpful error.
 */

test.use({ browsers: 'stub' });

const OPENS = `test('opens', async ({ page }) => { await page.goto('about:blank'); });`;

test.describe('at a limit of one, where the second browser ends slowly', () => {
  const match = { method: 'DELETE', path: '/v1/browser/session', nth: 2 } as const;
  test.use({ serviceOptions: { concurrentBrowsers: 1, faults: [{ match, effect: { delayMs: 5_000 } }] } });

  test('a used-up limit › lets each worker ask once, and then share the browser; its slow end is shown', async ({
    startSuite,
    service,
  }) => {
    const { sessionId } = await service.client.createSession({ note: 'somebody' });
    const requests = recordRequests();
    const running = await startSuite({ tests: { a: OPENS, b: OPENS }, args: ['--workers=2'] });
    const lists = () => requests.answered.filter(({ path }) => path === '/v1/browser/sessions').length;
    const creates = () =>
      requests.answered
        .filter(({ method, path }) => method === 'POST' && path === '/v1/browser/session')
        .map(({ status }) => status);
    await expect.poll(creates).toContain(403);
    const before = lists();
    await expect.poll(lists).toBeGreaterThan(before + 1);
    await running.printed(
      /slot \d \(the default project\)( and 1 more)? without a browser for 3 s: the workspace is at its concurrent-browser limit/,
    );
    await service.client.stopSession(sessionId);
    const { code } = await running.exit;
    requests.stop();
    expect(code, running.output()).toBe(0);
    expect(running.output()).toMatch(/^poolwright: waiting for the service to confirm the end of browser \S+$/m);
    // Each worker was refused at most once; after that, both waited in the queue.
    expect(creates().filter((status) => status === 403).length).toBeLessThanOrEqual(2);
    expect(creates().filter((status) => status !== 403)).toEqual([200]);
    const tests = await reportedTests(running.consumer);
    expect(tests).toHaveLength(2);
    expect(new Set(tests.map(({ results }) => hostedAttachments(results[0])[0]?.sessionId)).size).toBe(1);
    expect(await service.running()).toEqual([]);
  });

  test('a used-up limit › is reported with the owners of the sessions at the timeout', { tag: '@slow' }, async ({
    runSuite,
    service,
  }) => {
    await service.client.createSession({ note: 'somebody' });
    const run = await runSuite({ options: '{ acquireTimeout: 5_000 }', tests: OPENS, code: 1 });
    const [opens] = await run.tests();
    expect(opens?.results[0]?.errors).toHaveLength(1);
    expect(opens?.results[0]?.error?.message).toMatch(
      /^LeaseError \[ACQUIRE_TIMEOUT\]: No browser within 5 s \(`acquireTimeout`\) for slot 0 \(the default project\): the workspace is at its (limit of 1 browsers|concurrent-browser limit), and 1 run: 1 without a note of poolwright\. Raise /,
    );
    expect(opens?.results[0]?.error?.message?.split('\n')).toHaveLength(1);
  });
});

test("an empty pool › is shown in the error when fallback is 'fail'", async ({ newConsumer }) => {
  const consumer = await newConsumer();
  await consumer.write({
    'slow-chromium': '#!/bin/sh\nexec sleep 60\n',
    'playwright.config.ts': wrappedConfig(`{ pool: 'e2e', fallback: 'fail', acquireTimeout: 4_000 }`),
    'tests/a.spec.ts': suite(OPENS),
  });
  const chromium = join(consumer.directory, 'slow-chromium');
  await chmod(chromium, 0o755);
  const service = await startService({ chromium });
  try {
    const { id } = await service.client.createPool({ name: 'e2e', size: 2 });
    const run = await runPlaywright(consumer, [], service.env);
    expect(run.code, run.output).toBe(1);
    expect(run.output).toContain('without a browser for 3 s: waiting for the pool to have one ready');
    const [opens] = await reportedTests(consumer);
    const message = opens?.results[0]?.error?.message;
    expect(message).toContain(
      `No browser within 4 s (\`acquireTimeout\`) for slot 0 (the default project): pool e2e (${id}) has no browser ready: it is `,
    );
    // If the run takes longer than a browser may take to start, the pool starts others meanwhile.
    expect(message).toMatch(/it is (warming, .*2 starting|degraded, .*\d starting), 0 leased.* Raise/);
  } finally {
    await service.stop();
  }
});
