import type { FaultRule } from 'poolwright/emulator';
import type { Consumer } from '../support/e2e/consumer.ts';
import { expect, test } from '../support/e2e/fixtures.ts';
import { leftProcesses } from '../support/e2e/process-tree.ts';
import { providerFile } from '../support/e2e/provider-file.ts';
import { recordRequests } from '../support/e2e/requests.ts';
import { hostedAttachments, reportedTests, runPlaywright, startPlaywright } from '../support/e2e/run-playwright.ts';
import type { TestService } from '../support/e2e/service.ts';
import { STAYS, suite, wrappedConfig } from '../support/e2e/suites.ts';
import { slowIf } from '../support/property-runs.ts';
import { poolwright } from '../support/run-cli.ts';

/**
 * Real suites against a faulty service: no browser is left, no request is pointless, and the user gets an explanation.
 */

test.use({ browsers: 'stub' });

const CREATE = { method: 'POST', path: '/v1/browser/session' } as const;
const STOP = { method: 'DELETE', path: '/v1/browser/session' } as const;
const ACQUIRE = { method: 'POST', path: '/v1/browser/pools/*/acquire' } as const;
const RELEASE = { method: 'POST', path: '/v1/browser/pools/*/release' } as const;

/** Where a run's browsers come from: created sessions, or a user's provider, which creates them. */
const PLACES = {
  session: { 'playwright.config.ts': wrappedConfig() },
  provider: {
    'playwright.config.ts': wrappedConfig(`{ provider: './browsers.ts' }`),
    'browsers.ts': providerFile({ limit: null }),
  },
};
type Place = keyof typeof PLACES;
const BOTH: readonly [Place, string][] = [
  ['session', ''],
  ['provider', ' (of a provider)'],
];

const OPENS = suite(`test('opens', async ({ page }) => { await page.goto('about:blank'); });`);

async function record(consumer: Consumer) {
  return JSON.parse(await consumer.read('test-results/poolwright/run.json'));
}

/** Expects that no session runs, and that the run's record has a confirmed end for each session. */
async function expectClean(consumer: Consumer, service: TestService): Promise<void> {
  expect(await service.running()).toEqual([]);
  const { sessions } = await record(consumer);
  expect(sessions.filter(({ endConfirmed }: { endConfirmed: boolean }) => !endConfirmed)).toEqual([]);
}

interface Kind {
  name: string;
  effects: FaultRule['effect'][];
}

test.describe('giving a browser back when the call', () => {
  const badGateway: FaultRule['effect'] = { status: 502, body: '<html>Bad gateway</html>' };
  const kinds: [Kind, ...Kind[]] = [
    { name: 'fails in every way', effects: [{ status: 500 }, badGateway, { reset: true }, { loseAnswer: true }] },
    { name: 'gets 500 twice @slow', effects: [{ status: 500 }, { status: 500 }] },
    { name: 'gets a 502 that is not JSON, twice @slow', effects: [badGateway, badGateway] },
    { name: 'is reset twice @slow', effects: [{ reset: true }, { reset: true }] },
    { name: 'loses its response twice @slow', effects: [{ loseAnswer: true }, { loseAnswer: true }] },
  ];
  for (const { name, effects } of kinds) {
    test(`${name}: of a session, and of a pool's browser`, async ({ newConsumer, service }) => {
      await service.client.createPool({ name: 'e2e', size: 1 });
      const calls = [STOP, RELEASE];
      await service.addFaults(calls.flatMap((match) => effects.map((effect) => ({ match, effect, count: 1 }))));
      const consumer = await newConsumer();
      const projects = `projects: [
        { name: 'session' },
        { name: 'pool', use: { hosted: { pool: 'e2e', fallback: 'fail' } } },
      ],`;
      await consumer.write({ 'playwright.config.ts': wrappedConfig('{}', projects), 'tests/a.spec.ts': OPENS });
      const run = await runPlaywright(consumer, [], service.env);
      expect(run.code, run.output).toBe(0);
      const { sessions } = await record(consumer);
      expect(sessions.map(({ source }: { source: string }) => source).sort()).toEqual(['pool', 'session']);
      await expectClean(consumer, service);
    });
  }

  test('fails in every way: of a provider @slow', async ({ newConsumer, service }) => {
    const [{ effects }] = kinds;
    await service.addFaults(effects.map((effect) => ({ match: STOP, effect, count: 1 })));
    const consumer = await newConsumer();
    await consumer.write({ ...PLACES.provider, 'tests/a.spec.ts': OPENS });
    const run = await runPlaywright(consumer, [], service.env);
    expect(run.code, run.output).toBe(0);
    await expectClean(consumer, service);
  });

  test('is never confirmed: reported at the end, kept in the ledger, swept by the next run @slow', async ({
    newConsumer,
    service,
  }) => {
    await service.addFaults([{ id: 'no-stop', match: STOP, effect: { status: 500 } }]);
    const consumer = await newConsumer();
    await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/a.spec.ts': OPENS });
    const run = await runPlaywright(consumer, [], service.env);
    const [left] = await service.running();
    expect(run.output).toContain(`NOT CONFIRMED ENDED: session ${left}`);
    expect((await record(consumer)).sessions).toMatchObject([{ sessionId: left, endConfirmed: false }]);
    const failed = await poolwright(['sweep', '--json'], service.env, consumer.directory);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout).failures).toContainEqual(expect.stringContaining(`${left} of run`));
    await service.addFaults([{ id: 'no-stop', match: { path: '/v1/nothing' }, effect: { status: 500 } }]);
    const swept = await poolwright(['sweep', '--json'], service.env, consumer.directory);
    expect(JSON.parse(swept.stdout).stopped).toMatchObject([{ sessionId: left }]);
    expect(await service.running()).toEqual([]);
  });
});

test.describe('acquiring', () => {
  for (const [place, of] of BOTH) {
    test(
      `a create with a lost response, then a browser that cannot be reached: nothing is left${of}`,
      slowIf(place === 'provider'),
      async ({ newConsumer, service }) => {
        await service.addFaults([
          { match: CREATE, effect: { loseAnswer: true }, count: 1 },
          { match: { path: '/cdp/*' }, effect: { status: 500 }, count: 1 },
        ]);
        const consumer = await newConsumer();
        await consumer.write({ ...PLACES[place], 'tests/a.spec.ts': OPENS });
        const run = await runPlaywright(consumer, [], service.env);
        expect(run.code, run.output).toBe(0);
        // The lost session is found by its note, and is the one that cannot be reached. A provider's list has no
        // address: its lost browser is released, and another one requested.
        const failed = place === 'session' ? 1 : 2;
        expect(await service.allSessions()).toBe(failed + 1);
        const { sessions } = await record(consumer);
        expect(sessions.map(({ endReason }: { endReason: string }) => endReason)).toEqual([
          ...Array(failed).fill('connect-failed'),
          'idle',
        ]);
        await expectClean(consumer, service);
      },
    );

    test(
      `503 and 429 for several workers: one of them retries, the others wait for it${of}`,
      slowIf(place === 'provider'),
      async ({ newConsumer, service }) => {
        const busy = { error: 'No eligible node found', code: 'browser_capacity_unavailable' };
        const refused = { status: 503, body: busy, headers: { 'Retry-After': '2' } };
        await service.addFaults([{ id: 'busy', match: CREATE, effect: refused }]);
        const consumer = await newConsumer();
        await consumer.write({
          ...PLACES[place],
          ...Object.fromEntries(['a', 'b', 'c'].map((name) => [`tests/${name}.spec.ts`, OPENS])),
        });
        const requests = recordRequests();
        const run = startPlaywright(consumer, ['--workers=3'], service.env);
        await run.printed(
          /without a browser for 3 s: waiting for the service to start one \(the service responded with \d+, asking again\)/,
        );
        await service.addFaults([
          { id: 'busy', match: CREATE, effect: { status: 429, body: '<html>Slow down</html>' }, count: 1 },
        ]);
        expect((await run.exit).code, run.output()).toBe(0);
        requests.stop();
        const creates = requests.answered.filter(
          ({ method, path }) => method === CREATE.method && path === CREATE.path,
        );
        const refusals = creates.filter(({ status }) => status !== 200);
        expect(refusals.map(({ status }) => status)).toEqual([503, 503, 503, ...refusals.slice(4).map(() => 503), 429]);
        // The three pending requests are refused together; then one is sent at a time.
        const gaps = refusals.slice(3).map(({ at }, index) => at - (refusals[index + 2]?.at ?? 0));
        expect(Math.min(...gaps)).toBeGreaterThan(1_000);
        expect(creates).toHaveLength(refusals.length + 3);
        await expectClean(consumer, service);
      },
    );

    test(
      `402: the whole run stops its requests, and every test has the same one-line error${of}`,
      slowIf(place === 'provider'),
      async ({ newConsumer, service }) => {
        await service.addFaults([{ match: CREATE, effect: { status: 402, body: { error: 'Insufficient balance' } } }]);
        const consumer = await newConsumer();
        await consumer.write({
          ...PLACES[place],
          ...Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [`tests/${name}.spec.ts`, OPENS])),
        });
        const requests = recordRequests();
        const run = await runPlaywright(consumer, ['--workers=2'], service.env);
        requests.stop();
        expect(run.code, run.output).toBe(1);
        const errors = (await reportedTests(consumer)).map(({ results }) => results[0]?.error?.message ?? '');
        expect(errors).toHaveLength(5);
        expect(new Set(errors).size).toBe(1);
        const said = {
          session: '402 "Insufficient balance". The workspace is out of credit',
          provider: 'browsers.ts: 402 {"error":"Insufficient balance"}',
        };
        expect(errors[0]).toContain(said[place]);
        expect(errors[0]?.split('\n')).toHaveLength(1);
        // Two were pending before the first response; none was sent after it.
        expect(requests.answered.filter(({ status }) => status === 402).length).toBeLessThanOrEqual(2);
        expect((await record(consumer)).leaseFailures).toHaveLength(1);
      },
    );
  }
});

test('a connection that breaks mid-test: the error names it, and the session does not keep running', async ({
  newConsumer,
  service,
}) => {
  const consumer = await newConsumer();
  await consumer.write({
    'playwright.config.ts': wrappedConfig(),
    'tests/a.spec.ts': suite(`
      test('loses it', async ({ page }) => { await page.goto('about:blank'); console.log('READY'); await page.waitForEvent('popup'); });
      test('goes on', async ({ page }) => { await page.goto('about:blank'); });`),
  });
  const run = startPlaywright(consumer, ['--workers=1'], service.env);
  await run.printed(/READY/);
  const { baseURL, apiKey } = service.emulator;
  for (const sessionId of await service.running()) {
    const headers = { authorization: `Bearer ${apiKey}` };
    const cut = await fetch(`${baseURL}/__emulator/sessions/${sessionId}/cut`, { method: 'POST', headers });
    expect(cut.ok).toBe(true);
  }
  expect((await run.exit).code, run.output()).toBe(1);
  const [lost, next] = await reportedTests(consumer);
  expect(lost?.results[0]?.status).toBe('failed');
  expect(hostedAttachments(lost?.results[0])[0]?.infrastructureFailure).toMatch(
    /status "active" at the service\): the connection to it was cut while the browser kept running/,
  );
  expect(next?.results[0]?.status).toBe('passed');
  await expectClean(consumer, service);
});

test('ends the browser of a killed run even though its output has no reader', async ({ newConsumer, service }) => {
  // The broker prints a notice after 3 s of waiting for an end.
  await service.addFaults([{ match: STOP, effect: { status: 500 }, count: 5 }]);
  const consumer = await newConsumer();
  await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/a.spec.ts': STAYS });
  const run = startPlaywright(consumer, [], service.env);
  await run.printed(/WORKER \d+/);
  run.child.stdout?.destroy();
  run.child.stderr?.destroy();
  process.kill(run.child.pid ?? 0, 'SIGKILL');
  await run.exit;
  await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
  expect(await service.running()).toEqual([]);
  expect(await consumer.read('test-results/poolwright/broker.log')).toContain('waiting for the service to confirm');
});

/**
 * The test ends by itself: Playwright may ignore Ctrl-C while a worker starts (before its first test), and the test
 * then runs as usual.
 */
const STAYS_A_WHILE = suite(`
test('stays', async ({ page }) => {
  await page.goto('about:blank');
  await page.waitForTimeout(20_000);
});`);

test.describe('leaves nothing when the run is killed while it waits for a browser', () => {
  const deaths = [
    { name: 'SIGKILL of the runner', signal: 'SIGKILL', whom: 'runner', brief: 'create' },
    { name: 'SIGTERM to the runner', signal: 'SIGTERM', whom: 'runner', brief: 'create' },
    { name: 'Ctrl-C', signal: 'SIGINT', whom: 'group', brief: 'acquire' },
  ] as const;
  for (const { name, signal, whom, brief } of deaths) {
    for (const [what, rule] of Object.entries({ create: CREATE, acquire: ACQUIRE })) {
      test(`by ${name} during a slow ${what}${what === brief ? '' : ' @slow'}`, async ({ newConsumer, service }) => {
        const options = what === 'acquire' ? `{ pool: { create: { size: 1 } } }` : '{}';
        await service.addFaults([{ match: rule, effect: { delayMs: 3_000 } }]);
        const consumer = await newConsumer();
        await consumer.write({ 'playwright.config.ts': wrappedConfig(options), 'tests/a.spec.ts': STAYS_A_WHILE });
        const run = startPlaywright(consumer, [], service.env);
        const matched = async () => {
          const response = await fetch(`${service.emulator.baseURL}/__emulator/faults`, {
            headers: { authorization: `Bearer ${service.emulator.apiKey}` },
          });
          return ((await response.json()) as { faults: { matched: number }[] }).faults[0]?.matched;
        };
        await expect.poll(matched).toBe(1);
        const pid = run.child.pid ?? 0;
        process.kill(whom === 'group' ? -pid : pid, signal);
        await run.exit;
        // Its ledger is empty when the broker has seen everything ended.
        const swept = async () =>
          JSON.parse((await poolwright(['sweep', '--json'], service.env, consumer.directory)).stdout);
        await expect.poll(async () => (await swept()).alive).toEqual([]);
        await expect.poll(() => service.running()).toEqual([]);
        await expect.poll(() => service.client.listPools()).toEqual([]);
        await expect.poll(() => leftProcesses(consumer.directory)).toEqual([]);
      });
    }
  }
});
