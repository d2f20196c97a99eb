import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from '../../support/e2e/fixtures.ts';

/** A user's mistake: one clear error with the field and the solution, no stack, no requested browser, no hang. */

test.use({ browsers: 'stub' });

const SUITE = `test('never runs', async ({ page }) => { await page.goto('about:blank'); console.log('RAN'); });`;

/** Stack frames of our code, Node or Playwright. */
const STACK = /^\s+at .+:\d+:\d+\)?$/m;

/** Wrong options: the arguments of `withHostedBrowsers`, and the words of the error. */
const WRONG: Record<string, { args: string; says: string[]; never?: string }> = {
  'an unknown option': { args: `{}, { pol: 'x' }`, says: ['`pol`', '`pool`', 'withHostedBrowsers'] },
  'an unknown session field in a project': {
    args: `{ projects: [{ name: 'de', use: { hosted: { session: { contry: 'DE' } } } }] }`,
    says: ['projects["de"].use.hosted', '`country`'],
  },
  'a malformed proxyUrl': {
    args: `{}, { session: { proxyUrl: 'http://user:hunter22@proxy:8080' } }`,
    says: ['`session.proxyUrl`', 'socks5://'],
    never: 'hunter22',
  },
  'a session that is too short': { args: '{}, { session: { duration: 30 } }', says: ['`session.duration`', '60'] },
  'a misspelt budget': { args: '{}, { budget: { bandwithMB: 1 } }', says: ['bandwithMB', 'bandwidthMB'] },
  'hosted options on a Firefox project': {
    args: `{ projects: [{ name: 'ff', use: { browserName: 'firefox', hosted: { session: {} } } }] }`,
    says: ['"ff"', 'firefox', '`hosted: false`'],
  },
  'another remote browser in the same project': {
    args: `{ projects: [{ name: 'grid', use: { connectOptions: { wsEndpoint: 'ws://grid' } } }] }`,
    says: ['use.connectOptions', '"grid"'],
  },
  'a proxy for a persistent context': {
    args: `{ projects: [{ name: 'one', use: { proxy: { server: 'http://127.0.0.1:1' } } }] }, { context: 'persistent' }`,
    says: [
      '`projects["one"].use.proxy` is not supported in a persistent context, which is the browser\'s own.',
      "`hosted: { context: 'isolated' }`",
    ],
  },
  'client certificates for a saved profile': {
    args: `{ projects: [{ name: 'one', use: { clientCertificates: [{ origin: 'https://a.test', pfxPath: 'a.pfx' }] } }] },
      { session: { profile: { name: 'ada' } } }`,
    says: [
      '`projects["one"].use.clientCertificates` is not supported in a persistent context, which is the browser\'s own.',
      "`hosted: { context: 'isolated' }`",
    ],
  },
  'a reused context that is persistent': {
    args: `{ use: { reuseContext: true } }, { context: 'persistent' }`,
    says: ['`use.reuseContext` (or PW_TEST_REUSE_CONTEXT)', "would clear a persistent context's cookies"],
  },
  'evidence of failures, which Playwright has itself': {
    args: '{}, { evidence: true }',
    says: ['`evidence: true` in withHostedBrowsers', '`screenshot` and `trace`'],
  },
  'an invalid exposed address': {
    args: `{}, { exposeNetwork: 'http://localhost' }`,
    says: ['the rule "http://localhost" is not a valid host'],
  },
  // Must be last: the variable stays set.
  'a reused context of a stealth browser': {
    args: `(process.env.PW_TEST_REUSE_CONTEXT = '1', {}), { session: { type: 'hosted_stealth' } }`,
    says: ['`use.reuseContext` (or PW_TEST_REUSE_CONTEXT)', 'applies emulation, which would reveal a stealth browser'],
  },
};

test('bad input › invalid options are rejected when the config is loaded', { tag: '@versions' }, async ({
  runSuite,
  service,
}) => {
  const run = await runSuite({
    tests: SUITE,
    files: {
      // Each error is printed, and the config throws the first one.
      'playwright.config.ts': `
        import { withHostedBrowsers } from 'poolwright';
        const wrong: (() => object)[] = [${Object.values(WRONG).map(({ args }) => `() => (withHostedBrowsers as any)(${args})`)}];
        for (const [n, wrap] of wrong.entries()) {
          try { wrap(); } catch (error) { console.log('REFUSED ' + JSON.stringify([n, error.name, error.message])); }
        }
        export default wrong[0]();`,
    },
    code: 1,
  });
  const refused = [...run.output.matchAll(/^REFUSED (.*)$/gm)].map(([, json = '']) => JSON.parse(json));
  expect(refused.map(([n, name]) => [n, name])).toEqual(Object.keys(WRONG).map((_, n) => [n, 'OptionsError']));
  for (const [n, [name, { says, never }]] of Object.entries(WRONG).entries()) {
    for (const text of says) expect(refused[n]?.[2], name).toContain(text);
    if (never) expect(run.output, name).not.toContain(never);
  }
  const printed = run.output.replace(/^REFUSED .*$/gm, '');
  for (const text of Object.values(WRONG)[0]?.says ?? []) expect(printed).toContain(text);
  expect(printed).not.toMatch(STACK);
  expect(printed).not.toMatch(/_class|^\s*code: /m); // the message, not an object
  expect(run.output).not.toContain('RAN');
  expect(await service.allSessions()).toBe(0);
});

/** Mistakes outside the config: one run each. More cases are in test/unit/options. */
const mistakes: { name: string; options?: string; env?: Record<string, string>; says: string[]; code: string }[] = [
  {
    name: 'no key in CI',
    env: { CI: '1', POOLWRIGHT_API_KEY: '' },
    says: ['POOLWRIGHT_API_KEY is not set', "service: 'emulator'"],
    code: 'ENVIRONMENT_MISSING',
  },
  {
    name: 'an unknown pool',
    options: `{ pool: 'pool_nowhere' }`,
    says: ['`pool`', 'pool_nowhere', '404', '(e2e)'],
    code: 'OPTIONS_INVALID',
  },
  {
    name: 'no Chromium for the emulator',
    options: `{ service: 'emulator' }`,
    env: { POOLWRIGHT_CHROMIUM: '/nowhere/chromium' },
    says: ['POOLWRIGHT_CHROMIUM', '/nowhere/chromium', 'npx playwright install chromium'],
    code: 'EMULATOR_NO_CHROMIUM',
  },
];

for (const { name, options, env, says, code } of mistakes) {
  test(`bad input › ${name} is one clear error`, async ({ runSuite, service }) => {
    await service.client.createPool({ name: 'e2e', size: 1 });
    const run = await runSuite({ options, tests: SUITE, env, code: 1 });
    for (const text of says) expect(run.output).toContain(text);
    expect(run.output).not.toContain(service.emulator.apiKey);
    expect(run.output).not.toMatch(STACK);
    expect(run.output).not.toMatch(/_class|^\s*code: /m);
    expect(run.output).not.toContain('RAN');
    const message = expect.stringContaining(says[1] ?? '');
    expect((await run.record()).failures).toEqual([{ code, message, next: expect.any(String) }]);
    expect(await service.allSessions()).toBeLessThanOrEqual(1); // the pool's warm one
  });
}

test('bad input › a service that cannot be reached is named once, with its code', async ({ runSuite }) => {
  const env = { POOLWRIGHT_BASE_URL: 'http://127.0.0.1:9' };
  const run = await runSuite({ tests: SUITE, args: ['--reporter=list,poolwright/reporter'], env, code: 1 });
  for (const text of ['POOLWRIGHT_BASE_URL', '127.0.0.1:9']) expect(run.output).toContain(text);
  expect(run.output).not.toMatch(STACK);
  expect(run.output).not.toMatch(/_class|^\s*code: /m);
  expect(run.output).not.toContain('RAN');
  expect(run.output.match(/got no response/g)).toHaveLength(1);
  expect(run.output).toContain('ServiceError [SERVICE_UNREACHABLE]: ');
  const { leaseFailures } = await run.record();
  expect(leaseFailures).toEqual([expect.stringContaining('got no response')]);
});

test('bad input › an invalid key is reported once, in the output of reporters, too', async ({ runSuite, service }) => {
  const run = await runSuite({
    config: 'fullyParallel: true, workers: 2,',
    tests: { a: SUITE, b: SUITE },
    args: ['--reporter=dot,json'],
    env: { POOLWRIGHT_API_KEY: 'wrong-key-123' },
    code: 1,
  });
  expect(run.output.match(/responded with 401/g)).toHaveLength(1);
  for (const text of [service.emulator.apiKey, 'wrong-key-123', 'RAN']) expect(run.output).not.toContain(text);
  expect(run.output).not.toMatch(STACK);
  expect(run.output).not.toMatch(/_class|^\s*code: /m);
  const { errors } = JSON.parse(await run.consumer.read('report.json'));
  expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('POOLWRIGHT_API_KEY') })]);
  expect(await service.allSessions()).toBe(0);
});

test('bad input › an address that never responds fails the run in limited time', { tag: '@slow' }, async ({
  runSuite,
}) => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const run = await runSuite({ tests: SUITE, env: { POOLWRIGHT_BASE_URL: `http://127.0.0.1:${port}` }, code: 1 });
  expect(run.output).toContain(`127.0.0.1:${port}`);
  for (const socket of sockets) socket.destroy();
  silent.close();
});
