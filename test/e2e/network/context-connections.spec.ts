import { clientCertificate } from '../../support/cdp/context-proxy.ts';
import { selfSigned } from '../../support/cdp/dev-server.ts';
import { expect, test } from '../../support/e2e/fixtures.ts';

/** Client certificates and proxies of contexts, on browsers that cannot reach this machine's loopback. */

test.use({ serviceOptions: { allowLoopback: false } });

const text = (value: Buffer) => JSON.stringify(value.toString());

test('presents client certificates and uses proxies of this machine, and accepts certificates for origins that it never visits', {
  tag: '@slow',
}, async ({ runSuite }) => {
  const server = selfSigned();
  const ada = clientCertificate('ada');
  const run = await runSuite({
    tests: `
import { createServer } from 'node:https';
import { createServer as createProxy } from 'node:http';
import { connect } from 'node:net';
let server, proxy, origin, seen = [];
test.beforeAll(async () => {
  server = createServer({ key: ${text(server.key)}, cert: ${text(server.cert)}, ca: ${text(ada.cert)}, requestCert: true, rejectUnauthorized: false });
  server.on('request', ({ socket }, response) => response.end((socket.getPeerCertificate().subject?.CN ?? 'nobody') + ' ' + socket.authorized));
  proxy = createProxy();
  proxy.on('connect', ({ url }, socket) => {
    seen.push(url);
    const onward = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\\r\\n\\r\\n');
      socket.pipe(onward).pipe(socket);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  origin = 'https://localhost:' + server.address().port;
});
test.afterAll(() => { server.closeAllConnections(); server.close(); proxy.close(); });
test.use({ ignoreHTTPSErrors: true });

const own = (browser, more) => browser.newContext({ clientCertificates: [{ origin, cert: Buffer.from(${text(ada.cert)}), key: Buffer.from(${text(ada.key)}) }], ...more });

test('certificates', async ({ browser, page }) => {
  const context = await own(browser);
  const other = await context.newPage();
  await other.goto(origin);
  await expect(other.locator('body')).toHaveText('ada true');
  await page.goto(origin);
  await expect(page.locator('body')).toHaveText('nobody false');
});
test('both', async ({ browser }) => {
  const context = await own(browser, { proxy: { server: 'http://127.0.0.1:' + proxy.address().port } });
  const page = await context.newPage();
  await page.goto(origin);
  await expect(page.locator('body')).toHaveText('ada true');
  expect(seen).toContain(new URL(origin).host);
});
test.describe('elsewhere', () => {
  test.use({ clientCertificates: [{ origin: 'https://api.example', cert: Buffer.from(${text(ada.cert)}), key: Buffer.from(${text(ada.key)}) }] });
  test('is not visited', async ({ page }) => { await page.goto('about:blank'); });
});
`,
  });
  expect(run.output).toContain('3 passed');
});
