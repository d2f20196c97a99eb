import { createServer } from 'node:net';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { runPlaywright } from '../../support/e2e/run-playwright.ts';
import { suite, wrappedConfig } from '../../support/e2e/suites.ts';

/** A user's mistake: one clear error that names the field and the way out, no stack, no browser asked for, no hang. */

const SUITE = suite(`test('never runs', async ({ page }) => { await page.goto('about:blank'); console.log('RAN'); });`);

/** Frames of a stack: ours, Node's, Playwright's. */
const STACK = /^\s+at .+:\d+:\d+\)?$/m;

interface Mistake {
  name: string;
  config: string;
  env?: Record<string, string>;
  says: (string | RegExp)[];
  never?: string[];
}

const mistakes: Mistake[] = [
  {
    name: 'an unknown option',
    config: wrappedConfig(`{ pol: 'x' } as object`),
    says: ['`pol`', '`pool`', 'withHostedBrowsers'],
  },
  {
    name: 'an unknown session field in a project',
    config: wrappedConfig(
      '{}',
      `projects: [{ name: 'de', use: { hosted: { session: { contry: 'DE' } as object } } }],`,
    ),
    says: ['projects["de"].use.hosted', '`country`'],
  },
  {
    name: 'a malformed proxyUrl',
    config: wrappedConfig(`{ session: { proxyUrl: 'http://user:hunter22@proxy:8080' } }`),
    says: ['`session.proxyUrl`', 'socks5://'],
    never: ['hunter22'],
  },
  {
    name: 'a session that is too short',
    config: wrappedConfig('{ session: { duration: 30 } }'),
    says: ['`session.duration`', '60'],
  },
  {
    name: 'no key in CI',
    config: wrappedConfig(),
    env: { CI: '1', POOLWRIGHT_API_KEY: '' },
    says: ['POOLWRIGHT_API_KEY is not set', "service: 'emulator'"],
  },
  {
    name: 'a key without an address',
    config: wrappedConfig(),
    env: { POOLWRIGHT_BASE_URL: '' },
    says: ['POOLWRIGHT_BASE_URL is not set'],
  },
  {
    name: 'a wrong key',
    config: wrappedConfig(),
    env: { POOLWRIGHT_API_KEY: 'wrong-key-123' },
    says: ['401', 'POOLWRIGHT_API_KEY'],
    never: ['wrong-key-123'],
  },
  {
    name: 'an unknown pool',
    config: wrappedConfig(`{ pool: 'pool_nowhere' }`),
    says: ['`pool`', 'pool_nowhere', '404', '(e2e)'],
  },
  {
    name: 'a service that cannot be reached',
    config: wrappedConfig(),
    env: { POOLWRIGHT_BASE_URL: 'http://127.0.0.1:9' },
    says: ['POOLWRIGHT_BASE_URL', '127.0.0.1:9'],
  },
  {
    name: 'a switch that is neither on nor off',
    config: wrappedConfig(),
    env: { POOLWRIGHT_AHEAD: 'off' },
    says: ['POOLWRIGHT_AHEAD must be 0 or 1', '"off"'],
  },
  {
    name: 'no Chromium for the emulator',
    config: wrappedConfig(`{ service: 'emulator' }`),
    env: { POOLWRIGHT_CHROMIUM: '/nowhere/chromium' },
    says: ['POOLWRIGHT_CHROMIUM', '/nowhere/chromium', 'npx playwright install chromium'],
  },
  {
    name: 'hosted options on a Firefox project',
    config: wrappedConfig(
      '{}',
      `projects: [{ name: 'ff', use: { browserName: 'firefox', hosted: { session: {} } } }],`,
    ),
    says: ['"ff"', 'firefox', '`hosted: false`'],
  },
  {
    name: 'another remote browser in the same project',
    config: wrappedConfig('{}', `projects: [{ name: 'grid', use: { connectOptions: { wsEndpoint: 'ws://grid' } } }],`),
    says: ['use.connectOptions', '"grid"'],
  },
];

for (const version of ['oldest', 'latest'] as const) {
  test.describe(`Playwright ${version}`, () => {
    for (const { name, config, env, says, never } of mistakes) {
      test(name, async ({ newConsumer, service }) => {
        await service.client.createPool({ name: 'e2e', size: 1 });
        const consumer = await newConsumer(version);
        await consumer.write({ 'playwright.config.ts': config, 'tests/a.spec.ts': SUITE });
        const run = await runPlaywright(consumer, [], { ...service.env, ...env });
        expect(run.code).toBe(1);
        for (const text of says) expect(run.output).toContain(text);
        for (const text of [service.emulator.apiKey, ...(never ?? [])]) expect(run.output).not.toContain(text);
        expect(run.output).not.toMatch(STACK);
        expect(run.output).not.toContain('RAN');
        expect(await service.allSessions()).toBeLessThanOrEqual(1); // the pool's warm one
      });
    }
  });
}

test('an address where somebody listens but nobody answers ends in a bounded time', async ({ newConsumer }) => {
  const sockets = new Set<import('node:net').Socket>();
  const silent = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as import('node:net').AddressInfo;
  const consumer = await newConsumer();
  await consumer.write({ 'playwright.config.ts': wrappedConfig(), 'tests/a.spec.ts': SUITE });
  const run = await runPlaywright(consumer, [], {
    POOLWRIGHT_BASE_URL: `http://127.0.0.1:${port}`,
    POOLWRIGHT_API_KEY: 'some-key',
  });
  expect(run.code).toBe(1);
  expect(run.output).toContain(`127.0.0.1:${port}`);
  for (const socket of sockets) socket.destroy();
  silent.close();
});
