import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { startFarChromium } from '../../support/cdp/far-chromium.ts';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { suite } from '../../support/e2e/suites.ts';
import { unpackedFiles } from '../../support/e2e/unpacked.ts';
import { freePort } from '../../support/free-port.ts';
import { SECRETS, WORD } from '../../support/secrets.ts';
import { poolwright } from '../../support/unit/cli/command-line.ts';

/** What a run prints and writes has none of its secrets: each file is searched, archives unpacked. */

const test = base.extend<{ browserHost: string }>({
  // A service that sells browsers behind a token in the address.
  browserHost: async ({}, use) => {
    const chromium = await startFarChromium([]);
    const { host, pathname } = new URL(chromium.cdpUrl);
    const server = createServer((request, response) => {
      const webSocketDebuggerUrl = `ws://${request.headers.host}/${WORD}${WORD}/devtools?token=${WORD}`;
      response.end(JSON.stringify({ webSocketDebuggerUrl }));
    });
    server.on('upgrade', ({ rawHeaders }, socket) => {
      const [hostname, port] = host.split(':');
      const upstream = connect(Number(port), hostname, () => {
        const lines = rawHeaders.flatMap((name, n) => (n % 2 ? [] : [`${name}: ${rawHeaders[n + 1]}`]));
        upstream.write(`GET ${pathname} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
        socket.pipe(upstream).pipe(socket);
      });
      for (const each of [socket, upstream]) each.on('error', () => each.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await use(`127.0.0.1:${(server.address() as AddressInfo).port}`);
    await chromium.close();
    server.closeAllConnections();
    server.close();
  },
});

/** Whatever a reporter can read: each object once, to any depth, with fields that are not enumerable. */
const REPORTER = `
import { appendFileSync } from 'node:fs';
const seen = new Set();
function write(...values) {
  const texts = [];
  while (values.length > 0) {
    const value = values.pop();
    if (Buffer.isBuffer(value)) texts.push(value.toString());
    else if (typeof value === 'symbol' || Object(value) !== value) texts.push(String(value));
    else if (!seen.has(value)) {
      seen.add(value);
      if (value instanceof Map || value instanceof Set) values.push(...value.entries());
      for (const [name, field] of Object.entries(Object.getOwnPropertyDescriptors(value))) values.push(name, field.value);
      for (const name of Object.getOwnPropertySymbols(value)) values.push(name, Object.getOwnPropertyDescriptor(value, name).value);
    }
  }
  appendFileSync('own-report.txt', texts.join('\\n') + '\\n');
}
export default class {
  onBegin(config, root) { write(config, root.allTests()); }
  onStdOut(chunk) { write(chunk); }
  onStdErr(chunk) { write(chunk); }
  onTestEnd(test, result) { write(result, test.parent.project()); }
  onError(error) { write(error); }
  printsToStdio() { return false; }
}`;

const REPORTERS = `reporter: [
  ['list'], ['json', { outputFile: 'reports/report.json' }], ['html', { open: 'never', outputFolder: 'reports/html' }],
  ['blob', { outputDir: 'reports/blob' }], ['junit', { outputFile: 'reports/junit.xml' }], ['./reporter.mjs'],
],`;

const TESTS = suite(`
test('passes', async ({ page }) => { await page.goto('/'); await page.screenshot(); });
test('fails', async ({ page }) => { await page.goto('/'); await expect(page).toHaveTitle('other', { timeout: 1 }); });`);

/** The names of files with the secret; with the terminal's output as one of them. */
async function leaks({ directory }: Consumer, output: string): Promise<string[]> {
  const isOwn = (path: string) => /^.(test-results|reports|own-report)/.test(path.slice(directory.length));
  const files = await unpackedFiles(directory, isOwn);
  const names = files.map(({ path }) => path.slice(directory.length)).join('\n');
  for (const each of [/report\.json$/m, /blob.*\.zip!report\.jsonl$/m, /html.*!report\.json$/m, /junit\.xml$/m])
    expect(names).toMatch(each);
  for (const each of [/trace\.zip!/m, /own-report\.txt$/m, /run\.json$/m, /broker\.log$/m]) expect(names).toMatch(each);
  const all = [...files, { path: 'output', bytes: Buffer.from(output) }];
  return all.filter(({ bytes }) => bytes.includes(WORD)).map(({ path }) => path);
}

test('addresses of own browsers, and options beside them', async ({ runSuite, browserHost }) => {
  const nobody = `127.0.0.1:${await freePort()}`;
  const addresses = Object.values(SECRETS).map((of) => of(nobody));
  const browsers = [
    { url: `http://user:${WORD}@${browserHost}/${WORD}/?token=${WORD}&x=${WORD}#${WORD}`, max: 2 },
    ...addresses.filter((address) => address.includes('://')),
  ];
  const options = { browsers, apiKey: `sk_live_${WORD}`, baseURL: `http://user:${WORD}@${nobody}/${WORD}` };
  const { output, consumer } = await runSuite({
    options: JSON.stringify(options),
    config: `${REPORTERS} use: { baseURL: process.env.SITE_URL, trace: 'on' },`,
    tests: TESTS,
    files: { 'reporter.mjs': REPORTER },
    args: ['--workers=2'],
    code: 1,
    env: { POOLWRIGHT_API_KEY: '', POOLWRIGHT_BASE_URL: '', DEBUG: 'poolwright:*' },
  });
  expect(output).toContain('1 passed');
  expect(output).toContain(`the browser at ${nobody} is left out`);
  expect(await consumer.read('reports/report.json')).toContain(`http://${browserHost}`);
  expect(await leaks(consumer, output)).toEqual([]);
});

test.describe('on the service', () => {
  test.use({ browsers: 'shell' });

  test('the key, proxies and notes', async ({ runSuite, service }) => {
    const session = { proxyUrl: `socks5://user:${WORD}@127.0.0.1:9`, note: WORD, language: 'en-US' };
    const { output, consumer } = await runSuite({
      options: JSON.stringify({ session, relay: 'none', exposeNetwork: '<loopback>' }),
      config: `${REPORTERS} use: { baseURL: process.env.SITE_URL, trace: 'on' },`,
      tests: TESTS,
      files: { 'reporter.mjs': REPORTER },
      args: ['--workers=1'],
      code: 1,
      env: { DEBUG: 'poolwright:*' },
    });
    expect(output).toContain('1 passed');
    // The broker's log, for DEBUG.
    expect(output).toMatch(/session \S+ from session for slot \d/);
    expect(await leaks(consumer, output.replaceAll(service.emulator.apiKey, WORD))).toEqual([]);
  });
});

test('addresses in a variable, which `doctor` tries', async ({ newConsumer }) => {
  const { directory } = await newConsumer();
  const nobody = `127.0.0.1:${await freePort()}`;
  for (const [n, of] of Object.values(SECRETS).entries()) {
    const args = ['doctor', ...(n % 2 ? ['--json'] : [])];
    const env = { POOLWRIGHT_CDP_URL: of(nobody), POOLWRIGHT_API_KEY: `sk_live_${WORD}` };
    const { stdout, stderr, code } = await poolwright(args, env, directory);
    expect(code, stdout + stderr).not.toBe(0);
    expect(stdout + stderr).not.toContain(WORD);
  }
});
