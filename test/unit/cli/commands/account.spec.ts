import { expect, poolwright, test } from '../../../support/unit/cli/command-line.ts';

test('account › shows balance, plan and billing', async ({ service }) => {
  const shown = await poolwright(['account'], service.env);
  expect(shown).toMatchObject({ code: 0, stderr: '' });
  expect(shown.stdout).toMatch(/^ plan\.concurrent_browsers +10 *$/m);
  expect(shown.stdout).toMatch(/^ balance_cents +\d+ \(\d+\.\d\d\) *$/m);
  const { stdout } = await poolwright(['account', '--json'], service.env);
  expect(JSON.parse(stdout)).toMatchObject({
    balance: { balance_cents: expect.any(Number) },
    billing: { plan: { concurrent_browsers: 10 } },
  });
});

test.describe('ips', () => {
  const ip = { ip: '203.0.113.7', country: 'DE' } as const;
  test.use({ emulatorOptions: { dedicatedIps: [{ ...ip, proxyUrl: 'socks5://127.0.0.1:9' }] } });

  test('lists dedicated IPs', async ({ service }) => {
    const shown = await poolwright(['ips'], service.env);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(/203\.0\.113\.7 +.*DE/);
    const { stdout } = await poolwright(['ips', '--json'], service.env);
    expect(JSON.parse(stdout)).toMatchObject([ip]);
  });
});
