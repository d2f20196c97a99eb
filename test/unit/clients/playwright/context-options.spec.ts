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

for (const exposeNetwork of ['auto', '<loopback>', '*.internal']) {
  test(`accepts client certificates for any origin when exposeNetwork is ${exposeNetwork}`, () => {
    const given = ['https://localhost:8443', 'https://api.example'].map(certificate);
    expect(rejection({ clientCertificates: given }, { exposeNetwork })).toBeNull();
  });
}

test('rejects client certificates when nothing goes through this machine', () => {
  const given = [certificate('https://localhost:8443')];
  expect(rejection({ clientCertificates: given }, { exposeNetwork: 'none' })).toMatchObject({
    code: 'OPTIONS_INVALID',
    field: 'newContext.clientCertificates',
  });
  expect(rejection({ clientCertificates: [] }, { exposeNetwork: 'none' })).toBeNull();
});

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

test('knows a proxy that a test named in any form, and the origins of all certificates', () => {
  const proxies = new TestProxies();
  proxies.add({ proxy: { server: 'LOCALHOST:80' } });
  proxies.add({});
  proxies.add({ clientCertificates: [certificate('https://api.example/'), certificate('no address')] });
  expect(proxies.originsOf('http://localhost')).toBeNull();
  expect(proxies.originsOf('socks5://127.0.0.1:41234')).toEqual(['https://api.example']);
});
