import { expect, test } from '../../support/e2e/fixtures.ts';
import { poolwright } from '../../support/run-cli.ts';

test('passes every check on a healthy service, and leaves no session', async ({ service }) => {
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
    /^ok +session: created in \d+ ms, connected in \d+ ms, \d+ ms a round trip \(a click takes about \d+ ms from here(, \d+ ms with `ahead: false`)?\), stopped$/m,
  ])
    expect(stdout).toMatch(line);
  expect(stdout).not.toContain(service.emulator.apiKey);
  expect(stdout).not.toContain('/cdp/');
  expect(await service.running()).toEqual([]);
});

test('names each problem with its solution, and exits 1 when a run would fail', async ({ service }) => {
  const many = await poolwright(['doctor', '--workers=6', '--shards=2', '--no-session', '--json'], service.env);
  expect(many.code).toBe(0);
  const findings: { check: string; result: string; says: string; versions?: object }[] = JSON.parse(many.stdout);
  expect(findings.find(({ check }) => check === 'versions')?.versions).toMatchObject({
    poolwright: expect.stringMatching(/^\d/),
    Node: process.versions.node,
    Playwright: expect.stringMatching(/^1\./),
    Puppeteer: expect.stringMatching(/^\d/),
    Chromium: expect.stringMatching(/^\d/),
    platform: expect.stringContaining(process.platform),
  });
  expect(findings.find(({ check }) => check === 'plan limit')).toEqual({
    check: 'plan limit',
    result: 'warning',
    says: '10 browsers at once, 12 wanted (--workers × --shards): some workers will wait for others to finish',
  });
  expect(findings.find(({ check }) => check === 'session')?.result).toBe('skipped');
  expect(await service.allSessions()).toBe(0);

  const wrongKey = await poolwright(['doctor'], { ...service.env, POOLWRIGHT_API_KEY: 'wrong-key' });
  expect(wrongKey.code).toBe(1);
  expect(wrongKey.stdout).toMatch(/^FAILED +service and key: .*401.*POOLWRIGHT_API_KEY/m);
  expect(wrongKey.stdout).not.toContain('wrong-key');
  const noPool = await poolwright(['doctor', '--no-session'], { ...service.env, POOLWRIGHT_POOL: 'nowhere' });
  expect(noPool.code).toBe(1);
  expect(noPool.stdout).toMatch(/^FAILED +pool: .*there is no pool "nowhere"/m);
  const none = { POOLWRIGHT_BASE_URL: '', POOLWRIGHT_API_KEY: '' };
  const local = await poolwright(['doctor'], { ...none, CI: '' });
  expect(local.code).toBe(0);
  expect(local.stdout).toMatch(
    /^skipped variables: POOLWRIGHT_BASE_URL and POOLWRIGHT_API_KEY are not set: export POOLWRIGHT_BASE_URL=https:\S+ POOLWRIGHT_API_KEY=…\. Without a key, runs use the emulator/m,
  );
  // If runs would use the emulator, the command tests the emulator.
  expect(local.stdout).toMatch(/^ok +emulator: created in \d+ ms, connected in \d+ ms/m);
  const inCI = await poolwright(['doctor'], { ...none, CI: '1' });
  expect(inCI.code).toBe(1);
  expect(inCI.stdout).toMatch(/^FAILED +variables: POOLWRIGHT_BASE_URL and POOLWRIGHT_API_KEY are not set/m);
  expect(inCI.stdout).not.toMatch(/^\w+ +emulator:/m);
});
