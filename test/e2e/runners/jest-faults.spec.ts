import { expect, test } from '../../support/e2e/fixtures.ts';
import { jestConfig, runJest, testsOf } from '../../support/e2e/jest-runs.ts';
import { leftProcesses } from '../../support/e2e/process-tree.ts';
import { recordRequests } from '../../support/e2e/requests.ts';
import { recordOf } from '../../support/e2e/runner-records.ts';

/**
 * Jest on a service that has no browser, or loses one: the user gets an explanation, no request is pointless, and
 * nothing is left.
 */

test.use({ browsers: 'stub' });

const CREATE = { method: 'POST', path: '/v1/browser/session' } as const;
const GOES = `test('goes', async () => { await page.goto(process.env.SITE_URL); });`;
const TWO_FILES = { 'a.test.js': GOES, 'b.test.js': GOES };

test('402 › requests no further browser, and reports the error for every file', async ({ newConsumer, service }) => {
  await service.addFaults([{ match: CREATE, effect: { status: 402, body: { error: 'Insufficient balance' } } }]);
  const consumer = await newConsumer();
  await consumer.write({ ...jestConfig(), ...TWO_FILES, 'c.test.js': GOES });
  const requests = recordRequests();
  const run = await runJest(consumer, ['--maxWorkers=2'], { ...service.env, SITE_URL: 'about:blank' });
  requests.stop();
  expect(run.code, run.output).toBe(1);
  expect(
    run.output.match(/402 "Insufficient balance"\. The workspace is out of credit/g)?.length,
  ).toBeGreaterThanOrEqual(3);
  expect(requests.answered.filter(({ status }) => status === 402).length).toBeLessThanOrEqual(2);
  expect((await recordOf(consumer)).sessions).toEqual([]);
  expect(leftProcesses(consumer.directory)).toEqual([]);
});

test.describe('at a limit of one', () => {
  test.use({ serviceOptions: { concurrentBrowsers: 1 } });

  test('403 › gives the browser to the second worker when the first has finished', { tag: '@slow' }, async ({
    newConsumer,
    service,
  }) => {
    // A run that knows the limit asks for no browser beyond it, if the first worker has its browser by then.
    await service.addFaults([{ match: { method: 'GET', path: '/v1/account/billing' }, effect: { status: 500 } }]);
    // Until the other worker was refused: on a busy machine, it may ask seconds later.
    const stays = `test('stays', async () => {
    await page.goto(process.env.SITE_URL);
    while (!fs.existsSync('refused')) await new Promise((resolve) => setTimeout(resolve, 100));
  });`;
    const consumer = await newConsumer();
    const file = `const fs = require('node:fs');\n${stays}`;
    await consumer.write({ ...jestConfig({ testTimeout: 60_000 }), 'a.test.js': file, 'b.test.js': file });
    const requests = recordRequests();
    const running = runJest(consumer, ['--maxWorkers=2'], { ...service.env, SITE_URL: 'about:blank' });
    await expect.poll(() => requests.answered.map(({ status }) => status)).toContain(403);
    await consumer.write({ refused: '' });
    const run = await running;
    requests.stop();
    expect(run.code, run.output).toBe(0);
    const creates = requests.answered.filter(({ method, path }) => method === CREATE.method && path === CREATE.path);
    // Without the limit, the list of sessions seems to have room, which justifies one more request.
    expect(
      creates
        .map(({ status }) => status)
        .sort()
        .join(),
    ).toMatch(/^200,403(,403)?$/);
    const tests = testsOf(await recordOf(consumer));
    expect(tests).toHaveLength(2);
    expect(new Set(tests.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(await service.running()).toEqual([]);
  });
});
