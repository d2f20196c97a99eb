import { BrowserLauncher } from '../../../src/emulator/browser-launcher.ts';
import { ProfileDirectories } from '../../../src/emulator/disk/profile-directories.ts';
import { type EmulatorOptions, resolveOptions } from '../../../src/emulator/options.ts';
import { createApp } from '../../../src/emulator/server/app.ts';
import { EmulatorState } from '../../../src/emulator/state/emulator-state.ts';
import { test as base, expect } from '../../support/emulator/fixtures.ts';
import { ManualClock } from '../../support/emulator/manual-clock.ts';

/** The API without a socket and without a browser: invalid input is rejected before a browser is requested. */
const test = base.extend<{ post: (path: string, body: unknown) => Promise<[number, string]> }>({
  post: async ({}, use) => {
    const profiles = await ProfileDirectories.create();
    const settings = resolveOptions({
      apiKey: 'key',
      warmBrowserCap: 30,
      concurrentBrowsers: 1,
      servedBy: ['n1', 'n2'],
    });
    const launcher = new BrowserLauncher({
      chromiums: { shell: null, full: { kind: 'full', path: '/bin/false', source: 'option' } },
      extraArguments: [],
      allowLoopback: false,
      profiles,
      log: () => undefined,
    });
    const state = new EmulatorState(settings, launcher, new ManualClock());
    const app = createApp(state, () => undefined);
    await use(async (path, body) => {
      const response = await app.request(`/v1/browser${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      const { error } = (await response.json()) as { error: string };
      return [response.status, error];
    });
    await state.stop();
    await profiles.removeAll();
  },
});

test.describe('create refuses', () => {
  const cases: [string, unknown, number, RegExp][] = [
    ['an unknown field', { colour: 'red' }, 400, /^colour: unknown field$/],
    ['an unknown field of the profile', { profile: { name: 'p', x: 1 } }, 400, /^profile\.x: unknown field$/],
    ['a short duration', { duration: 59 }, 400, /^duration: .*60/],
    ['a long duration', { duration: 3601 }, 400, /^duration: .*3600/],
    ['a fraction of a second', { duration: 60.5 }, 400, /^duration: /],
    ['a small window', { windowSize: '319x200' }, 400, /^windowSize: must match WIDTHxHEIGHT.*320 to 16384/],
    ['a malformed display', { displaySize: 'big' }, 400, /^displaySize: /],
    ['a long note', { note: 'n'.repeat(257) }, 400, /^note: .*256/],
    ['a long country', { country: 'USA' }, 400, /^country: /],
    ['an unknown country', { country: 'XX' }, 400, /^country: XX/],
    ['an unknown zone', { timezone: 'Mars/Olympus' }, 400, /^timezone: Mars\/Olympus is not an IANA timezone/],
    ["another country's zone", { country: 'US', timezone: 'Europe/Berlin' }, 400, /^timezone: .* for US$/],
    ['another language in the US', { language: 'de-DE' }, 400, /^language: .*en-US/],
    ['an invalid language', { country: 'DE', language: 'x!' }, 400, /^language: /],
    ['an unknown type', { type: 'local' }, 400, /^type: /],
    ['an HTTP proxy', { proxyUrl: 'http://user:pw@proxy:1' }, 400, /^proxyUrl: must be a SOCKS5/],
    ['an unknown node', { nodeId: 'n3' }, 400, /^nodeId: .*n1, n2/],
    ['a dedicated IP where there is none', { proxyUrl: 'dedicated://any' }, 404, /^proxyUrl: .*dedicated:\/\/any$/],
    ['an extension that is not there', { extensionIds: ['e'] }, 404, /^Extension not found: e$/],
    ['a body that is not an object', [], 400, /object/],
    ['a body that is not JSON', '{', 400, /JSON/],
  ];
  for (const [what, body, status, message] of cases) {
    test(what, async ({ post }) => {
      const [answered, error] = await post('/session', body);
      expect([answered, error]).toEqual([status, expect.stringMatching(message)]);
    });
  }
});

test.describe('pool creation refuses', () => {
  const cases: [string, unknown, number, RegExp][] = [
    ['a missing name', { size: 1 }, 400, /^name: /],
    ['a missing size', { name: 'p' }, 400, /^size: /],
    ['no browsers', { name: 'p', size: 0 }, 400, /^size: /],
    [
      'a field of sessions',
      { name: 'p', size: 1, browser: { duration: 60 } },
      400,
      /^browser\.duration: unknown field/,
    ],
    ['a bad template', { name: 'p', size: 1, browser: { country: 'XX' } }, 400, /^country: XX/],
    ['a short lease', { name: 'p', size: 1, leaseTimeoutSeconds: 29 }, 400, /^leaseTimeoutSeconds: /],
    ['more than the cap', { name: 'p', size: 32 }, 409, /^Pool capacity 32 exceeds your pool limit of 30$/],
  ];
  for (const [what, body, status, message] of cases) {
    test(what, async ({ post }) => {
      const [answered, error] = await post('/pools', body);
      expect([answered, error]).toEqual([status, expect.stringMatching(message)]);
    });
  }
});

test.describe('startEmulator refuses', () => {
  const cases: [string, EmulatorOptions, string, RegExp][] = [
    ['an unknown option', { prot: 1 } as EmulatorOptions, 'prot', /^`prot`: unknown key, did you mean `port`\?/],
    ['a port out of range', { port: 99_999 }, 'port', /^`port`: must be ≤ 65535 \(0 to 65535\), got 99999$/],
    ['an empty key', { apiKey: '' }, 'apiKey', /^`apiKey`: must have ≥ 1 characters/],
    ['both kinds of key', { apiKey: 'a', workspaces: [{ apiKey: 'b' }] }, 'workspaces', /either/],
    ['one key twice', { workspaces: [{ apiKey: 'b' }, { apiKey: 'b' }] }, 'workspaces', /same apiKey/],
    ['no concurrency', { concurrentBrowsers: 0 }, 'concurrentBrowsers', /^`concurrentBrowsers`: must be > 0/],
  ];
  for (const [what, options, field, message] of cases) {
    base(what, async ({ start }) => {
      await expect(start(options)).rejects.toMatchObject({
        name: 'OptionsError',
        field,
        message: expect.stringMatching(message),
      });
    });
  }
});
