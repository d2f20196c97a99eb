import { expect, test } from '@playwright/test';
import { ownBrowsers, resolveService } from '../../../src/options/resolve-service.ts';

const HERE = 'http://localhost:9222';

test('reads browsers from the option, else from POOLWRIGHT_CDP_URL', () => {
  expect(ownBrowsers({}, {})).toBeNull();
  expect(ownBrowsers({}, { POOLWRIGHT_CDP_URL: '', POOLWRIGHT_PROVIDER: '' })).toBeNull();
  expect(ownBrowsers({}, { POOLWRIGHT_CDP_URL: `${HERE}, ws://host/x?token=t` })).toEqual({
    kind: 'browsers',
    browsers: [
      { url: HERE, max: 1 },
      { url: 'ws://host/x?token=t', max: 1 },
    ],
  });
  const browsers = [HERE, { url: 'wss://host', max: 5 }, { url: 'https://host' }];
  expect(ownBrowsers({ browsers }, { POOLWRIGHT_CDP_URL: 'ws://other', POOLWRIGHT_PROVIDER: 'other.mjs' })).toEqual({
    kind: 'browsers',
    browsers: [
      { url: HERE, max: 1 },
      { url: 'wss://host', max: 5 },
      { url: 'https://host', max: 1 },
    ],
  });
});

test('reads a provider from the option, else from POOLWRIGHT_PROVIDER, and refuses two kinds at once', () => {
  const other = { POOLWRIGHT_PROVIDER: 'other.mjs' };
  expect(ownBrowsers({ provider: './browsers.ts' }, { ...other, POOLWRIGHT_CDP_URL: HERE })).toEqual({
    kind: 'provider',
    file: './browsers.ts',
    isOption: true,
  });
  expect(ownBrowsers({}, other)).toEqual({ kind: 'provider', file: 'other.mjs', isOption: false });
  expect(() => ownBrowsers({ provider: 'a.mjs', browsers: [HERE] }, {})).toThrow(
    '`provider` and `browsers` each name the browsers of the run: set only one of them.',
  );
  expect(() => ownBrowsers({}, { ...other, POOLWRIGHT_CDP_URL: HERE })).toThrow(/^`POOLWRIGHT_PROVIDER` and/);
});

test('names a wrong address, without what may be secret in it', () => {
  const wrong = (browsers: string[]) => () => ownBrowsers({ browsers }, {});
  expect(wrong([HERE, 'localhost:9222'])).toThrow(
    'browsers[1] must be the address of a browser, such as http://localhost:9222 or ws://localhost:9222/devtools/browser/… (its value is not shown).',
  );
  expect(wrong(['ftp://me:s3cret@host:9/s3cret?x=s3cret'])).toThrow(/, got "ftp:\/\/host:9"\.$/);
  expect(() => ownBrowsers({}, { POOLWRIGHT_CDP_URL: `${HERE},` })).toThrow(/^POOLWRIGHT_CDP_URL must be/);
});

test("without a key, starts the emulator on a developer's machine only", () => {
  expect(resolveService({}, {})).toEqual({ kind: 'emulator', chosenBy: 'no-key' });
  expect(() => resolveService({}, { CI: '1' })).toThrow(/^POOLWRIGHT_API_KEY is not set/);
});

test('chooses them before the service and the emulator, unless another service is named', () => {
  const named = { POOLWRIGHT_CDP_URL: HERE };
  const keyed = { POOLWRIGHT_API_KEY: 'key', POOLWRIGHT_BASE_URL: 'http://service' };
  const kind = (options: Parameters<typeof resolveService>[0], environment: object) =>
    resolveService(options, environment).kind;
  expect(kind({}, named)).toBe('browsers');
  expect(kind({}, { ...named, ...keyed, CI: '1' })).toBe('browsers');
  expect(kind({ browsers: [HERE] }, keyed)).toBe('browsers');
  expect(kind({ service: 'hosted' }, { ...named, ...keyed })).toBe('hosted');
  expect(kind({ browsers: [HERE] }, { POOLWRIGHT_SERVICE: 'emulator' })).toBe('emulator');
});
