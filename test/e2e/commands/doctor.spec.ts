import { expect, test } from '../../support/e2e/fixtures.ts';
import { poolwright } from '../../support/run-cli.ts';

test('doctor › passes every check on a healthy service, and leaves no session', async ({ service }) => {
  const pool = await service.client.createPool({ name: 'e2e', size: 2 });
  const env = { ...service.env, POOLWRIGHT_POOL: 'e2e' };
  const { code, stdout, stderr } = await poolwright(['doctor', '--workers', '2'], env);
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  for (const line of [
    /^ok +versions: poolwright \d+\.\d+\.\d+.*, Node \d+\.\d+\.\d+, Playwright 1\.\d+\.\d+, Puppeteer \d+\.\d+\.\d+, Chromium \d+\.\d+\.\d+\.\d+, platform \S+ \S+ \S+$/m,
    /^ok +Chromium of the emulator: \/\S+ \((headless shell|full Chromium), .*\): for /m,
    /^ok +variables: POOLWRIGHT_BASE_URL is http:\/\/127\.0\.0\.1:\d+, POOLWRIGHT_API_KEY is set$/m,
    /^ok +service and key: responds and accepts the key \(\d+ ms\)$/m,
    /^ok +balance: \d+ cents$/m,
    /^ok +plan limit: 10 browsers at once, 2 wanted/m,
    new RegExp(`^ok +pool: e2e \\(${pool.id}\\) is (warming|ready), size 2`, 'm'),
    /^ok +session: created in \d+ ms, connected in \d+ ms, \d+ ms a round trip \(a click takes about \d+ ms from here(, \d+ ms with `ahead: false`)?\), a page in \d+ ms, stopped$/m,
  ])
    expect(stdout).toMatch(line);
  expect(stdout).not.toContain(service.emulator.apiKey);
  expect(stdout).not.toContain('/cdp/');
  expect(await service.running()).toEqual([]);
});

test('doctor › checks the emulator when runs would use it', async () => {
  const local = await poolwright(['doctor'], { POOLWRIGHT_BASE_URL: '', POOLWRIGHT_API_KEY: '', CI: '' });
  expect(local.code).toBe(0);
  expect(local.stdout).toMatch(
    /^skipped variables: POOLWRIGHT_BASE_URL and POOLWRIGHT_API_KEY are not set: export POOLWRIGHT_BASE_URL=https:\S+ POOLWRIGHT_API_KEY=…\. Without a key, runs use the emulator/m,
  );
  expect(local.stdout).toMatch(/^ok +emulator: created in \d+ ms, connected in \d+ ms/m);
});
