import { expect, test } from '../../support/e2e/fixtures.ts';
import { startService } from '../../support/e2e/service.ts';
import { poolwright } from '../../support/run-cli.ts';

test('poolwright account shows balance, plan and billing', async ({ service }) => {
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

test('poolwright ips lists dedicated IPs', async () => {
  const service = await startService({
    dedicatedIps: [{ ip: '203.0.113.7', country: 'DE', proxyUrl: 'socks5://127.0.0.1:9' }],
  });
  try {
    const shown = await poolwright(['ips'], service.env);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(/203\.0\.113\.7 +.*DE/);
    const { stdout } = await poolwright(['ips', '--json'], service.env);
    expect(JSON.parse(stdout)).toMatchObject([{ ip: '203.0.113.7', country: 'DE' }]);
  } finally {
    await service.stop();
  }
});

test('poolwright sessions note sets and removes a note', async ({ service }) => {
  const { sessionId } = await service.client.createSession();
  const noted = await poolwright(['sessions', 'note', sessionId, 'mine', '--json'], service.env);
  expect(JSON.parse(noted.stdout)).toMatchObject([{ sessionId, note: 'mine' }]);
  expect(noted.stdout).not.toContain('/cdp/');
  await poolwright(['sessions', 'note', sessionId, ''], service.env);
  expect((await service.client.getSession(sessionId)).note).toBeNull();
  await service.client.stopSession(sessionId);
  const late = await poolwright(['sessions', 'note', sessionId, 'late'], service.env);
  expect(late.code).toBe(1);
  expect(late.stderr).toContain('Cannot update a terminal session');
});
