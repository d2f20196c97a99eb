import { basename } from 'node:path';
import { inspect } from 'node:util';
import { test as base, expect, type FullConfig } from '@playwright/test';
import { BROKER_VARIABLE } from '../../../../src/broker/rpc/shared-broker.ts';
import { asMerged, isLocal } from '../../../../src/runners/playwright-test/config/merged-options.ts';
import { isLocalRun, rememberedRun } from '../../../../src/runners/playwright-test/config/run-registry.ts';
import { brokerForWorker } from '../../../../src/runners/playwright-test/setup/worker-broker.ts';
import { withHostedBrowsers } from '../../../../src/runners/playwright-test/with-hosted-browsers.ts';

/** Not checked while a broker exists. */
const CONFIG = {} as FullConfig;

const VARIABLES = ['POOLWRIGHT_POOL', 'POOLWRIGHT_SERVICE', BROKER_VARIABLE];

/** Each test has its own environment. */
const test = base.extend<{ _environment: undefined }>({
  _environment: [
    async ({}, use) => {
      const before = VARIABLES.map((name) => [name, process.env[name]] as const);
      for (const name of VARIABLES) delete process.env[name];
      await use(undefined);
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    },
    { auto: true },
  ],
});

/** `use.hosted` of a project, as reporters see it. */
function hostedOf(config: ReturnType<typeof withHostedBrowsers>, index = 0): object {
  const hosted: unknown = config.projects?.[index]?.use?.hosted;
  if (typeof hosted !== 'object' || hosted === null) throw new Error('no options');
  return hosted;
}

test.describe("a proxy's password", () => {
  const proxyUrl = (password: string) => `socks5://user:${password}@proxy.test:1080`;

  test('is not in the config that reporters and other global setups can read', () => {
    const config = withHostedBrowsers(
      {
        use: { hosted: { session: { proxyUrl: proxyUrl('common-word') } } },
        projects: [
          { name: 'run' },
          { name: 'own', use: { hosted: { session: { proxyUrl: proxyUrl('own"-word') } } } },
          { name: 'pool', use: { hosted: { pool: { create: { browser: { proxyUrl: proxyUrl('pool-word') } } } } } },
        ],
      },
      { apiKey: 'key-word', session: { proxyUrl: proxyUrl('run-word'), url: 'https://u:site-word@example.test/' } },
    );
    for (const text of [JSON.stringify(config), inspect(config, { depth: null, showHidden: true })]) {
      expect(text).not.toMatch(/-word/);
    }
    expect(hostedOf(config, 1)).toMatchObject({ session: { proxyUrl: 'socks5://proxy.test:1080' } });
  });

  test('is not in a top-level `use` either', () => {
    const config = withHostedBrowsers({ use: { hosted: { session: { proxyUrl: proxyUrl('common-word') } } } });
    expect(inspect(config, { depth: null, showHidden: true })).not.toContain('common-word');
  });

  test('is available to the fixtures and the broker', () => {
    const session = { proxyUrl: proxyUrl('run-word') };
    const config = withHostedBrowsers({ projects: [{ name: 'run' }] }, { session });
    expect(asMerged(hostedOf(config), 'use.hosted').session).toEqual(session);
    expect(rememberedRun()?.hosted).toMatchObject([{ options: { session } }]);
  });
});

test.describe("service: 'local'", () => {
  const given = { use: { hosted: { session: { country: 'DE' } } }, projects: [{ name: 'a' }] };

  test('masks secrets that reporters could read in `use.hosted`, which has no effect', () => {
    const secret = { hosted: { session: { country: 'DE', proxyUrl: 'socks5://user:hunter22@proxy.test:1080' } } };
    const config = withHostedBrowsers({ use: secret, projects: [{ use: secret }, {}] }, { service: 'local' });
    const shown = { hosted: { session: { country: 'DE', proxyUrl: 'socks5://proxy.test:1080' } } };
    expect(config).toEqual({ use: shown, projects: [{ use: shown }, {}] });
  });

  test('returns the config unchanged, by option and by variable', () => {
    const given = { use: { hosted: false as const }, projects: [{ name: 'a' }] };
    expect(withHostedBrowsers(given, { service: 'local' })).toBe(given);
    expect([isLocalRun(), rememberedRun()]).toEqual([true, null]);
    process.env.POOLWRIGHT_SERVICE = 'local';
    expect(withHostedBrowsers(given, { pool: 'p' })).toBe(given);
    expect(withHostedBrowsers(given, { service: 'emulator' })).not.toBe(given);
    expect(isLocalRun()).toBe(false);
  });

  test('still rejects invalid options, and a variable that names no service', () => {
    const worker = process.env.TEST_WORKER_INDEX;
    delete process.env.TEST_WORKER_INDEX; // this test runs in a worker of its runner
    try {
      expect(() => withHostedBrowsers(given, { service: 'local', pol: 'x' } as object)).toThrow('`pool`');
    } finally {
      process.env.TEST_WORKER_INDEX = worker;
    }
    process.env.POOLWRIGHT_SERVICE = 'none';
    expect(() => withHostedBrowsers(given)).toThrow('POOLWRIGHT_SERVICE must be one of');
  });

  test('also applies to the `test` of poolwright, with and without the wrapper', () => {
    withHostedBrowsers(given, { service: 'local' });
    expect([isLocal({}), isLocal(given.use.hosted)]).toEqual([true, true]);
    process.env.POOLWRIGHT_SERVICE = 'local';
    const hosted = hostedOf(withHostedBrowsers(given, { service: 'emulator' }));
    expect([isLocal(hosted), isLocal({}), isLocal(false)]).toEqual([false, false, true]);
    Reflect.deleteProperty(globalThis, Symbol.for('poolwright.run'));
    expect([isLocal({}), isLocal({ service: 'emulator' })]).toEqual([true, false]);
    delete process.env.POOLWRIGHT_SERVICE;
    expect([isLocal({}), isLocal({ service: 'local' })]).toEqual([false, true]);
  });
});

test.describe('a worker, whose environment a global setup may have changed', () => {
  const CERTIFICATES = { clientCertificates: [{ origin: 'https://example.test' }] };
  /** Possible on a pool's browsers, as far as known, but not in a session with a profile. */
  const wrap = () => withHostedBrowsers({ use: CERTIFICATES }, { session: { profile: { name: 'p' } } });
  const broker = (runner: number) => JSON.stringify({ address: '/socket', token: 't', runner });

  test('does not repeat the checks of the runner', () => {
    process.env.POOLWRIGHT_POOL = 'pool';
    wrap();
    delete process.env.POOLWRIGHT_POOL;
    process.env[BROKER_VARIABLE] = broker(process.ppid);
    wrap();
  });

  test('is not recognized in a run that a test starts, which is a separate run', () => {
    process.env[BROKER_VARIABLE] = broker(1);
    expect(wrap).toThrow(/clientCertificates/);
  });

  test('sends only the ID of its project, because the broker knows the rest', async () => {
    process.env[BROKER_VARIABLE] = broker(process.ppid);
    process.env.POOLWRIGHT_POOL = 'second';
    expect(await brokerForWorker({ id: 'a', name: 'a', options: {}, wrapped: true }, CONFIG)).toMatchObject({
      address: { address: '/socket', token: 't' },
      ownProject: undefined,
    });
  });

  test('sends options that the runner could not know: those of a test file, or of a run without the wrapper', async () => {
    const options = { session: { country: 'DE' } };
    const own = { id: 'a', name: 'a', plan: { session: options.session, pool: null, reuse: 'run' } };
    process.env[BROKER_VARIABLE] = broker(process.ppid);
    const ofFile = await brokerForWorker({ id: 'a', name: 'a', options, wrapped: false }, CONFIG);
    expect(ofFile).toMatchObject({ address: { address: '/socket' }, ownProject: own });
    process.env[BROKER_VARIABLE] = broker(1);
    const ofOther = await brokerForWorker({ id: 'a', name: 'a', options, wrapped: true }, CONFIG);
    expect(ofOther).toMatchObject({ address: { address: '/socket' }, ownProject: own });
  });
});

test('distinguishes projects with the same name or none, each with its options', () => {
  const country = (code: string) => ({ use: { hosted: { session: { country: code } } } });
  withHostedBrowsers({
    projects: [
      country('DE'),
      { name: 'twin', ...country('FR') },
      { name: 'local', use: { hosted: false } },
      { name: 'twin', ...country('US') },
      country('GB'),
      { name: 'twin (2)', ...country('IT') },
    ],
  });
  const hosted = rememberedRun()?.hosted.map(({ id, name, options }) => [id, name, options.session?.country]);
  expect(hosted).toEqual([
    ['', '', 'DE'],
    ['twin', 'twin', 'FR'],
    ['twin (3)', 'twin', 'US'],
    [' (2)', '', 'GB'],
    ['twin (2)', 'twin (2)', 'IT'],
  ]);
});

test('our reporter is the first one, or where the user has added it', () => {
  const reportersOf = (reporter: NonNullable<Parameters<typeof withHostedBrowsers>[0]['reporter']>) =>
    [withHostedBrowsers({ reporter }).reporter].flat().map((each) => basename([each].flat().map(String)[0] ?? ''));
  expect(reportersOf([['line'], ['other']])).toEqual(['run-reporter.cjs', 'line', 'other']);
  expect(reportersOf([['other'], ['poolwright/reporter'], ['line']])).toEqual(['other', 'run-reporter.cjs', 'line']);
});
