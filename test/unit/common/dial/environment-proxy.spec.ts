import { createServer } from 'node:net';
import { expect, test } from '@playwright/test';
import { environmentProxy, ProxyError } from '../../../../src/common/dial/environment-proxy.ts';
import { OptionsError } from '../../../../src/errors.ts';
import { startHttpProxy } from '../../../support/cdp/context-proxy.ts';

const NAMES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
const before = Object.fromEntries(NAMES.map((name) => [name, process.env[name]]));

/** Sets these proxy variables, and no others. */
function setVariables(values: Record<string, string>): void {
  for (const name of NAMES) delete process.env[name];
  Object.assign(process.env, values);
}

test.afterEach(() => {
  setVariables({});
  for (const [name, value] of Object.entries(before)) if (value !== undefined) process.env[name] = value;
});

const SERVICE = 'https://service.example';
const ROWS: [what: string, variables: Record<string, string>, address: string, name: string | null][] = [
  ['none', {}, SERVICE, null],
  ['HTTPS_PROXY for https:', { HTTPS_PROXY: 'http://p.example:3128' }, SERVICE, 'p.example:3128 (HTTPS_PROXY)'],
  ['HTTPS_PROXY for wss:', { HTTPS_PROXY: 'http://p:1' }, 'wss://browser.example/x', 'p:1 (HTTPS_PROXY)'],
  ['HTTP_PROXY for ws:', { HTTP_PROXY: 'http://p:1', HTTPS_PROXY: 'http://q:2' }, 'ws://b.example', 'p:1 (HTTP_PROXY)'],
  ['HTTP_PROXY does not serve https:', { HTTP_PROXY: 'http://p:1' }, SERVICE, null],
  ['lower case comes first', { https_proxy: 'http://p:1', HTTPS_PROXY: 'http://q:2' }, SERVICE, 'p:1 (https_proxy)'],
  ['ALL_PROXY', { ALL_PROXY: 'http://p:1' }, SERVICE, 'p:1 (ALL_PROXY)'],
  ['a SOCKS proxy for all', { ALL_PROXY: 'socks5://p:1' }, SERVICE, null],
  ['an address without a scheme', { HTTPS_PROXY: 'p.example:3128' }, SERVICE, 'p.example:3128 (HTTPS_PROXY)'],
  ['credentials are not shown', { HTTPS_PROXY: 'http://me:secret@p:1' }, SERVICE, 'p:1 (HTTPS_PROXY)'],
  ['a listed host', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'other,service.example' }, SERVICE, null],
  ['a listed domain', { HTTPS_PROXY: 'http://p:1', no_proxy: '.example' }, SERVICE, null],
  ['a listed port', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'service.example:8443' }, SERVICE, 'p:1 (HTTPS_PROXY)'],
  ['all hosts are listed', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '*' }, SERVICE, null],
  ['localhost', { HTTP_PROXY: 'http://p:1' }, 'http://localhost:3000', null],
  ['loopback addresses', { HTTP_PROXY: 'http://p:1', ALL_PROXY: 'http://p:1' }, 'ws://[::1]:3000', null],
];

for (const [what, variables, address, name] of ROWS) {
  test(`proxies of the environment: ${what}`, () => {
    setVariables(variables);
    expect(environmentProxy(address)?.name ?? null).toBe(name);
  });
}

for (const value of ['socks5://p:1', 'http://', 'ftp://p']) {
  test(`proxies of the environment: ${value} is one clear error`, () => {
    setVariables({ HTTPS_PROXY: value });
    expect(() => environmentProxy(SERVICE)).toThrow(OptionsError);
    expect(() => environmentProxy(SERVICE)).toThrow(/^HTTPS_PROXY must be the address of an HTTP proxy/);
  });
}

/** The message of a failure to connect through this proxy. */
async function failure(value: string): Promise<string> {
  setVariables({ HTTPS_PROXY: value });
  const failed = await environmentProxy(SERVICE)
    ?.dial('192.0.2.7', 443)
    .catch((error: Error) => error);
  expect(failed).toBeInstanceOf(ProxyError);
  return String(failed instanceof Error && failed.message).replace(/127\.0\.0\.1:\d+/, 'PROXY');
}

test('says why a proxy does not connect, without its password', async () => {
  const proxy = await startHttpProxy('me:right');
  const at = `127.0.0.1:${proxy.port}`;
  const speechless = createServer((socket) => socket.end('hello\r\n\r\n')).listen(0, '127.0.0.1');
  const { port } = await new Promise<{ port: number }>((resolve) =>
    speechless.once('listening', () => resolve(speechless.address() as { port: number })),
  );
  expect(await failure(`http://${at}`)).toBe(
    'the proxy PROXY (HTTPS_PROXY) asks for a login (HTTP 407): set HTTPS_PROXY=http://name:password@…',
  );
  expect(await failure(`http://me:wrong@${at}`)).toBe(
    'the proxy PROXY (HTTPS_PROXY) rejected the name and password in HTTPS_PROXY (HTTP 407)',
  );
  await proxy.close();
  expect(await failure(`http://me:right@${at}`)).toBe('the proxy PROXY (HTTPS_PROXY) was not reached: ECONNREFUSED');
  expect(await failure(`http://127.0.0.1:${port}`)).toBe(
    'the proxy PROXY (HTTPS_PROXY) did not respond like an HTTP proxy',
  );
  speechless.close();
});
