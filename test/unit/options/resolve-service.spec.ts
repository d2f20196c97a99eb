import { expect, test } from '@playwright/test';
import { fixedBrowsers, resolveService } from '../../../src/options/resolve-service.ts';

const HERE = 'http://localhost:9222';

test('reads browsers from the option, else from POOLWRIGHT_CDP_URL', () => {
  expect(fixedBrowsers({}, {})).toBeNull();
  expect(fixedBrowsers({}, { POOLWRIGHT_CDP_URL: '' })).toBeNull();
  expect(fixedBrowsers({}, { POOLWRIGHT_CDP_URL: `${HERE}, ws://host/x?token=t` })).toEqual([
    { url: HERE, max: 1 },
    { url: 'ws://host/x?token=t', max: 1 },
  ]);
  const browsers = [HERE, { url: 'wss://host', max: 5 }, { url: 'https://host' }];
  expect(fixedBrowsers({ browsers }, { POOLWRIGHT_CDP_URL: 'ws://other' })).toEqual([
    { url: HERE, max: 1 },
    { url: 'wss://host', max: 5 },
    { url: 'https://host', max: 1 },
  ]);
});

test('names a wrong address, without what may be secret in it', () => {
  const wrong = (browsers: string[]) => () => fixedBrowsers({ browsers }, {});
  expect(wrong([HERE, 'localhost:9222'])).toThrow(
    'browsers[1] must be the address of a browser, such as http://localhost:9222 or ws://localhost:9222/devtools/browser/…, got "localhost:9222".',
  );
  expect(wrong(['ftp://host/?token=s3cret'])).toThrow(/^(?!.*s3cret)/);
  expect(() => fixedBrowsers({}, { POOLWRIGHT_CDP_URL: `${HERE},` })).toThrow(/^POOLWRIGHT_CDP_URL must be/);
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
