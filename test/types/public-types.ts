import { defineConfig, test as plain } from '@playwright/test';
import {
  type HostedOptions,
  type HostedSession,
  LeaseError,
  mergeTests,
  PoolwrightError,
  type PoolwrightErrorCode,
  test,
  withHostedBrowsers,
} from 'poolwright';
import { ServiceClient, type Session } from 'poolwright/client';
import { type Emulator, startEmulator } from 'poolwright/emulator';
import PoolwrightReporter, { type RunRecord, runRecord } from 'poolwright/reporter';

/**
 * What the public types allow, and what they refuse: compiled, never run. `node scripts/types.mjs` does it with the
 * build of this directory, test/e2e/package/consumer.spec.ts with the packed tarball, in each way that TypeScript finds
 * packages.
 */

/** Exactly this type, and no other one that happens to fit. */
function expectType<Expected>() {
  return <Actual>(
    _value: Actual,
    ..._same: [Expected] extends [Actual] ? ([Actual] extends [Expected] ? [] : [never]) : [never]
  ) => undefined;
}

// The wrapper gives back the kind of config that it gets, and refuses what it does not know.
const options: HostedOptions = { pool: 'pool_e2e', fallback: 'session', acquireTimeout: 60_000 };
defineConfig(
  withHostedBrowsers(
    {
      testDir: './tests',
      projects: [
        { name: 'us', use: { locale: 'en-US' } },
        { name: 'de', use: { hosted: { session: { type: 'hosted_stealth', country: 'DE' } } } },
        { name: 'local', use: { hosted: false } },
        // @ts-expect-error: no such type of session
        { name: 'wrong', use: { hosted: { session: { type: 'stealth' } } } },
        // @ts-expect-error: the service is chosen for the whole run
        { name: 'wrong', use: { hosted: { service: 'emulator' } } },
      ],
    },
    options,
  ),
);
withHostedBrowsers<{ account: string }, { region: 'eu' | 'us' }>({
  use: { account: 'me', region: 'eu', hosted: { reuse: 'test' } },
});
// @ts-expect-error: neither is a string
withHostedBrowsers({}, { exposeNetwork: ['<loopback>'], pool: 5 });
// @ts-expect-error: the key is called `acquireTimeout`
withHostedBrowsers({}, { timeout: 5 });

// The fixture, alone and merged with somebody's own.
const own = plain.extend<{ account: { name: string } }>({ account: async ({}, use) => use({ name: 'me' }) });
test('alone', async ({ page, hostedSession }) => {
  expectType<HostedSession>()(hostedSession);
  expectType<string>()(hostedSession.sessionId);
  expectType<string | null>()(hostedSession.poolId);
  // @ts-expect-error: tests read it
  hostedSession.sessionId = '';
  // @ts-expect-error: the address of a browser is a secret that no test gets
  hostedSession.cdpUrl;
  await page.goto('/');
});
mergeTests(own, test)('merged', async ({ account, hostedSession }) => {
  expectType<{ name: string }>()(account);
  expectType<boolean>()(hostedSession.reused);
});
test.use({ hosted: { pool: 'other' } });
test.use({ hosted: false });

// Errors have a closed list of codes.
try {
  throw new LeaseError('CONNECT_FAILED', 'x');
} catch (error) {
  if (error instanceof PoolwrightError) {
    expectType<PoolwrightErrorCode>()(error.code);
    // @ts-expect-error: no such code
    error.code === 'NO_SUCH_CODE';
  }
}

// The client answers with what the service describes.
const client = new ServiceClient({ baseURL: 'https://service.example', apiKey: 'key' });
expectType<Promise<Session>>()(client.createSession({ type: 'hosted', duration: 300 }));
client.acquire('pool', { waitMs: 1_000 }).then(({ cdpUrl, leaseId }) => {
  expectType<string>()(cdpUrl);
  expectType<string>()(leaseId);
});
// @ts-expect-error: a number of seconds
client.createSession({ duration: '5 minutes' });
// @ts-expect-error: the key is missing
new ServiceClient({ baseURL: 'https://service.example' });

// The emulator.
startEmulator({ concurrentBrowsers: 4, rtt: 20 }).then(async (emulator) => {
  expectType<Emulator>()(emulator);
  expectType<number[]>()(emulator.browserPids());
  await emulator.stop();
});
// @ts-expect-error: a number
startEmulator({ port: '8787' });

// The record is read with its schema, and the reporter is one of Playwright's.
const record: RunRecord = runRecord.parse(JSON.parse('{}'));
expectType<string | null>()(record.runId);
new PoolwrightReporter();
