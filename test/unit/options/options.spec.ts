import { expect, test } from '@playwright/test';
import { OptionsError } from '../../../src/errors.ts';
import { aheadVariable } from '../../../src/options/environment.ts';
import { leasePlan, mergeOptions, planKey } from '../../../src/options/lease-plan.ts';
import { resolveService } from '../../../src/options/resolve-service.ts';
import { parseHostedOptions, parseProjectOptions } from '../../../src/options/schema/parse.ts';

function messageOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(OptionsError);
    return (error as OptionsError).message;
  }
  throw new Error('expected an OptionsError');
}

test.describe('user options', () => {
  test('names an unknown key and the nearest known one', () => {
    const message = messageOf(() => parseHostedOptions({ pol: 'x' }, 'withHostedBrowsers(config, options)'));
    expect(message).toContain('withHostedBrowsers(config, options)');
    expect(message).toContain('`pol`');
    expect(message).toContain('`pool`');
    expect(messageOf(() => parseHostedOptions({ session: { contry: 'DE' } }, 'x'))).toContain('`country`');
    expect(() => parseHostedOptions({ session: { contry: 'DE' } }, 'x')).toThrow(
      expect.objectContaining({ field: 'session.contry' }),
    );
  });

  test('takes no option for none, and nothing else', () => {
    expect(parseHostedOptions({}, 'x')).toEqual({});
    for (const wrong of [null, undefined, [], '', 5, () => undefined]) {
      expect(messageOf(() => parseHostedOptions(wrong, 'x'))).toContain('an object');
    }
  });

  test("uses the service's limits", () => {
    expect(messageOf(() => parseHostedOptions({ session: { duration: 30 } }, 'x'))).toMatch(/`session\.duration`.*60/);
    expect(messageOf(() => parseHostedOptions({ session: { windowSize: '10x10' } }, 'x'))).toContain('WIDTHxHEIGHT');
    expect(messageOf(() => parseHostedOptions({ session: { country: 'DEU' } }, 'x'))).toContain('2 letters');
    expect(messageOf(() => parseHostedOptions({ acquireTimeout: 5 }, 'x'))).toMatch(/`acquireTimeout`.*1000/);
  });

  test('rejects a malformed proxyUrl without printing its password', () => {
    const message = messageOf(() =>
      parseHostedOptions({ session: { proxyUrl: 'http://user:hunter22@proxy:8080' } }, 'x'),
    );
    expect(message).toContain('`session.proxyUrl`');
    expect(message).toContain('socks5://');
    expect(message).not.toContain('hunter22');
  });

  test('rejects options of the whole run in a project', () => {
    expect(messageOf(() => parseProjectOptions({ apiKey: 'k' }, 'projects["de"].use.hosted'))).toContain(
      'second argument',
    );
  });
});

test.describe('lease plan', () => {
  test('fills in defaults and the environment', () => {
    expect(leasePlan({}, {})).toEqual({
      pool: null,
      fallback: 'session',
      session: {},
      reuse: 'run',
      acquireTimeout: 120_000,
    });
    expect(leasePlan({}, { POOLWRIGHT_POOL: 'pool_env' }).pool).toBe('pool_env');
    expect(leasePlan({ pool: 'pool_own' }, { POOLWRIGHT_POOL: 'pool_env' }).pool).toBe('pool_own');
  });

  test('a project that names a session does not lease from the pool of the run', () => {
    const merged = mergeOptions({ pool: 'pool_run', fallback: 'fail' }, { session: { country: 'DE' } });
    expect(leasePlan(merged, { POOLWRIGHT_POOL: 'pool_env' })).toMatchObject({
      pool: null,
      fallback: 'fail',
      session: { country: 'DE' },
    });
    expect(leasePlan(mergeOptions({ pool: 'pool_run' }, { pool: 'pool_de', session: {} }), {}).pool).toBe('pool_de');
    expect(leasePlan(mergeOptions({ pool: 'pool_run' }, { reuse: 'test' }), {})).toMatchObject({
      pool: 'pool_run',
      reuse: 'test',
    });
  });

  test('equal plans have equal keys, whatever the order of their fields', () => {
    const key = (session: object) => planKey(leasePlan({ session }, {}));
    expect(key({ country: 'DE', adblock: true })).toBe(key({ adblock: true, country: 'DE' }));
    expect(key({ country: 'DE' })).not.toBe(key({ country: 'FR' }));
  });
});

test.describe('service', () => {
  const hosted = { POOLWRIGHT_API_KEY: 'k-12345', POOLWRIGHT_BASE_URL: 'https://api.example.test/' };

  test("'auto' is hosted with a key, the emulator without one, an error in CI", () => {
    expect(resolveService({}, hosted)).toEqual({
      kind: 'hosted',
      baseURL: 'https://api.example.test',
      apiKey: 'k-12345',
    });
    expect(resolveService({}, {})).toEqual({ kind: 'emulator', chosenBy: 'no-key' });
    expect(messageOf(() => resolveService({}, { CI: 'true' }))).toContain('POOLWRIGHT_API_KEY');
    const refused = { ...hosted, POOLWRIGHT_BASE_URL: 'ftp://me:word@a.test/v1?token=abcdef' };
    expect(messageOf(() => resolveService({}, refused))).toMatch(/got "ftp:\/\/a\.test"\.$/);
    expect(resolveService({ service: 'emulator' }, { CI: 'true', ...hosted })).toEqual({
      kind: 'emulator',
      chosenBy: 'option',
    });
  });

  test('an option overrides POOLWRIGHT_SERVICE, which overrides the default', () => {
    const variable = { POOLWRIGHT_SERVICE: 'emulator' };
    expect(resolveService({}, { ...hosted, ...variable })).toEqual({ kind: 'emulator', chosenBy: 'variable' });
    expect(resolveService({ service: 'hosted' }, { ...hosted, ...variable })).toMatchObject({ kind: 'hosted' });
    expect(resolveService({ service: 'auto' }, { ...hosted, ...variable })).toMatchObject({ kind: 'hosted' });
    expect(resolveService({}, { ...hosted, POOLWRIGHT_SERVICE: '' })).toMatchObject({ kind: 'hosted' });
    expect(messageOf(() => resolveService({}, { POOLWRIGHT_SERVICE: 'hosted' }))).toContain('POOLWRIGHT_API_KEY');
  });

  test('an unknown POOLWRIGHT_SERVICE is an error that lists all services', () => {
    expect(messageOf(() => resolveService({}, { POOLWRIGHT_SERVICE: 'lokal' }))).toBe(
      'POOLWRIGHT_SERVICE must be one of auto, hosted, emulator, local, got "lokal".',
    );
  });

  test("'local' has no browser to lease: the error says what to use", () => {
    expect(messageOf(() => resolveService({ service: 'local' }, {}))).toMatch(/^`service: 'local'`.*'emulator'/);
    expect(messageOf(() => resolveService({}, { POOLWRIGHT_SERVICE: 'local' }))).toMatch(
      /^POOLWRIGHT_SERVICE=local.*POOLWRIGHT_SERVICE=emulator.*puppeteer\.launch/,
    );
  });

  test("'local' for one project is an error that suggests `hosted: false`", () => {
    expect(messageOf(() => parseProjectOptions({ service: 'local' }, 'use.hosted'))).toContain('`hosted: false`');
  });

  test('names what is missing or malformed', () => {
    expect(messageOf(() => resolveService({ service: 'hosted' }, {}))).toContain('POOLWRIGHT_API_KEY');
    expect(messageOf(() => resolveService({}, { POOLWRIGHT_API_KEY: 'k-12345' }))).toContain('POOLWRIGHT_BASE_URL');
    expect(messageOf(() => resolveService({}, { ...hosted, POOLWRIGHT_BASE_URL: 'api.example' }))).toContain('http://');
  });

  test('accepts only on and off in POOLWRIGHT_AHEAD', () => {
    expect(
      [undefined, '', '0', 'false', '1', 'true'].map((value) => aheadVariable({ POOLWRIGHT_AHEAD: value })),
    ).toEqual([undefined, undefined, false, false, true, true]);
    expect(messageOf(() => aheadVariable({ POOLWRIGHT_AHEAD: 'off' }))).toMatch(
      /POOLWRIGHT_AHEAD must be 0 or 1, got "off"/,
    );
  });
});
