import { inspect } from 'node:util';
import { test as base, expect } from '@playwright/test';
import { BROKER_VARIABLE } from '../../../src/broker/process/config.ts';
import { leasePlan } from '../../../src/options/lease-plan.ts';
import { asMerged } from '../../../src/playwright/config/merged-options.ts';
import { rememberedRun } from '../../../src/playwright/config/run-registry.ts';
import { withHostedBrowsers } from '../../../src/playwright/config/with-hosted-browsers.ts';

const VARIABLES = ['POOLWRIGHT_POOL', BROKER_VARIABLE];

/** Each test with an environment of its own. */
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

/** `use.hosted` of a project, as every reporter sees it. */
function hostedOf(config: ReturnType<typeof withHostedBrowsers>, index = 0): object {
  const hosted: unknown = config.projects?.[index]?.use?.hosted;
  if (typeof hosted !== 'object' || hosted === null) throw new Error('no options');
  return hosted;
}

test.describe("a proxy's password", () => {
  const proxyUrl = (password: string) => `socks5://user:${password}@proxy.test:1080`;

  test('is in nothing that a reporter or another global setup can read of the config', () => {
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
    expect(hostedOf(config, 1)).toMatchObject({ session: { proxyUrl: 'socks5://***@proxy.test:1080' } });
  });

  test('is in none of the alone-standing `use` either', () => {
    const config = withHostedBrowsers({ use: { hosted: { session: { proxyUrl: proxyUrl('common-word') } } } });
    expect(inspect(config, { depth: null, showHidden: true })).not.toContain('common-word');
  });

  test('is still there for the fixtures and for the broker', () => {
    const session = { proxyUrl: proxyUrl('run-word') };
    const config = withHostedBrowsers({ projects: [{ name: 'run' }] }, { session });
    expect(asMerged(hostedOf(config), 'use.hosted').session).toEqual(session);
    expect(rememberedRun()?.hosted).toMatchObject([{ plan: { session } }]);
  });
});

test.describe('POOLWRIGHT_POOL', () => {
  const planOf = (config: ReturnType<typeof withHostedBrowsers>) =>
    leasePlan(asMerged(hostedOf(config), 'use.hosted'), process.env);
  const broker = (pool: string | null) => JSON.stringify({ address: '/socket', token: 't', runner: process.pid, pool });

  test('is what it was when the run began, whatever a global setup made of it', () => {
    for (const [atFirst, later] of [
      ['first', 'second'],
      [null, 'second'],
      ['first', null],
    ] as const) {
      process.env[BROKER_VARIABLE] = broker(atFirst);
      if (later === null) delete process.env.POOLWRIGHT_POOL;
      else process.env.POOLWRIGHT_POOL = later;
      const config = withHostedBrowsers({ projects: [{ name: 'a' }] });
      expect(planOf(config).pool).toBe(atFirst);
    }
  });

  test('of a run that a test starts is its own', () => {
    process.env[BROKER_VARIABLE] = JSON.stringify({ address: '/socket', token: 't', runner: 1, pool: 'outer' });
    process.env.POOLWRIGHT_POOL = 'inner';
    expect(planOf(withHostedBrowsers({ projects: [{ name: 'a' }] })).pool).toBe('inner');
  });

  test('does not go over what the config says', () => {
    process.env[BROKER_VARIABLE] = broker('first');
    expect(planOf(withHostedBrowsers({ projects: [{ name: 'a' }] }, { pool: 'own' })).pool).toBe('own');
    const sessions = withHostedBrowsers({ projects: [{ name: 'a', use: { hosted: { session: {} } } }] });
    expect(planOf(sessions).pool).toBe(null);
  });
});
