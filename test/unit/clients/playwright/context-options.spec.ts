import { expect, test } from '@playwright/test';
import { assertReachable, TestProxies } from '../../../../src/clients/playwright/context-options.ts';

const certificate = (origin: string) => ({ origin, certPath: 'a', keyPath: 'b', passphrase: 'secret' });
const rejection = (...args: Parameters<typeof assertReachable>) => {
  try {
    assertReachable(...args);
  } catch (error) {
    const { code, field, message } = error as { code: string; field: string; message: string };
    expect(message).not.toContain('secret');
    return { code, field, hint: /exposeNetwork: '([^']*)'/.exec(message)?.[1] };
  }
  return null;
};

for (const [origin, exposeNetwork, hint] of [
  ['https://localhost:8443', 'auto', null],
  ['https://localhost:8443', 'auto,<loopback>', null],
  ['https://api.internal', '*.internal', null],
  ['https://localhost:8443', 'none', 'localhost:8443'],
  ['https://api.example', 'auto', 'auto,api.example'],
  ['https://api.example', '<loopback>', '<loopback>,api.example'],
] as const) {
  const verb = hint === null ? 'accepts' : 'rejects';
  test(`${verb} a client certificate for ${origin} when exposeNetwork is ${exposeNetwork}`, () => {
    const code = { code: 'OPTIONS_INVALID', field: 'newContext.clientCertificates', hint };
    expect(rejection({ clientCertificates: [certificate(origin)] }, { exposeNetwork })).toEqual(
      hint === null ? null : code,
    );
  });
}

test('rejects client certificates over a relay', () => {
  const given = { clientCertificates: [certificate('https://localhost:1')] };
  expect(rejection(given, { exposeNetwork: 'auto', way: { name: 'relay', address: 'http://relay' } })?.field).toBe(
    'newContext.clientCertificates',
  );
});

test('rejects a proxy of this machine when nothing goes through this machine', () => {
  const local = { proxy: { server: 'localhost:3128', username: 'ada', password: 'secret' } };
  expect(rejection(local, { exposeNetwork: 'none' })?.field).toBe('newContext.proxy');
  expect(rejection(local, { exposeNetwork: 'auto' })).toBeNull();
  expect(rejection({ proxy: { server: 'http://proxy.example:1' } }, { exposeNetwork: 'none' })).toBeNull();
});

test('knows a proxy that a test named in any form', () => {
  const proxies = new TestProxies();
  proxies.add({ server: 'LOCALHOST:80' });
  proxies.add(undefined);
  expect(proxies.has('http://localhost')).toBe(true);
  expect(proxies.has('socks5://127.0.0.1:41234')).toBe(false);
});
