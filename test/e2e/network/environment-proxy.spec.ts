import { startHttpProxy } from '../../support/cdp/context-proxy.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';
import { poolwright } from '../../support/run-cli.ts';

/** The service's address is one that only the proxy knows. */

test.use({ serviceOptions: { allowRemote: true } });

test('a run and doctor reach the service and its browsers through HTTP_PROXY', async ({ runSuite, service }) => {
  const proxy = await startHttpProxy('me:s3cret');
  const env = {
    POOLWRIGHT_BASE_URL: String(service.env.POOLWRIGHT_BASE_URL).replace('127.0.0.1', '192.0.2.7'),
    HTTP_PROXY: `http://me:s3cret@127.0.0.1:${proxy.port}`,
  };
  try {
    const { output, record } = await runSuite({
      env,
      tests: `test('runs', async ({ page }) => { await page.setContent('<h1>Far</h1>'); await expect(page.locator('h1')).toHaveText('Far'); });`,
    });
    expect((await record()).sessions).toHaveLength(1);
    // Worker and broker, each to its own server.
    expect(proxy.seen.length).toBeGreaterThanOrEqual(2);
    const { code, stdout } = await poolwright(['doctor'], { ...service.env, ...env });
    expect(code, stdout).toBe(0);
    const through = 'through the proxy 127\\.0\\.0\\.1:\\d+ \\(HTTP_PROXY\\)';
    expect(stdout).toMatch(new RegExp(`POOLWRIGHT_BASE_URL is http://192\\.0\\.2\\.7:\\d+ \\(${through}\\),`));
    expect(stdout).toMatch(new RegExp(`connected in \\d+ ms ${through}, \\d+ ms a round trip`));
    expect(output + stdout).not.toContain('s3cret');
  } finally {
    await proxy.close();
  }
});
