import { expect, test } from '@playwright/test';
import { ContextProxy, proxyServer } from '../../../../src/cdp/network/send/context-proxy/context-proxy.ts';

for (const [text, server] of [
  ['proxy:3128', { scheme: 'http', host: 'proxy', port: 3128 }],
  ['http://proxy', { scheme: 'http', host: 'proxy', port: 80 }],
  ['https://proxy/', { scheme: 'https', host: 'proxy', port: 443 }],
  ['https://proxy:80', { scheme: 'https', host: 'proxy', port: 80 }],
  ['socks5://[::1]:9', { scheme: 'socks5', host: '::1', port: 9 }],
  ['socks4://10.0.0.1', { scheme: 'socks4', host: '10.0.0.1', port: 1080 }],
  ['direct://', null],
  ['quic://proxy:1', null],
  ['http=proxy:1;https=other:2', null],
  ['http://ada:secret@proxy:1', null],
  ['', null],
] as const) {
  test(`reads the proxy ${JSON.stringify(text)}`, () => {
    expect(proxyServer(text)).toEqual(server);
  });
}

const SERVER = { scheme: 'http', host: 'proxy', port: 1 } as const;

for (const [bypass, served, bypassed] of [
  [
    '',
    ['http://a.example/', 'wss://a.example/'],
    ['http://localhost:1/', 'http://127.9.9.9/', 'http://[::1]/', 'http://169.254.1.1/'],
  ],
  ['<-loopback>', ['http://localhost:1/', 'http://[::1]/', 'ws://127.0.0.1/'], ['file:///a', 'data:,']],
  [
    '<-loopback>,localhost',
    ['http://a.localhost/', 'http://127.0.0.1/'],
    ['http://localhost:7/', 'https://LOCALHOST/'],
  ],
  ['a.example;.b.example', ['http://b.example/', 'http://xa.example/'], ['http://a.example/', 'http://x.b.example/']],
  ['*.c.example, d*', ['http://c.example/', 'http://e/'], ['http://x.c.example/', 'http://delta/']],
  ['a.example:8080', ['http://a.example/'], ['http://a.example:8080/', 'https://a.example:8080/']],
  ['a.example:443', ['http://a.example/'], ['https://a.example/']],
  ['https://a.example', ['http://a.example/'], ['https://a.example/']],
  ['10.0.0.0/8', ['http://11.0.0.1/', 'http://ten/'], ['http://10.2.3.4/']],
  ['fd00::/8', ['http://[fe::1]/'], ['http://[fd00::1]/']],
  ['<local>', ['http://a.b/', 'http://10.0.0.1/', 'http://[fd00::1]/'], ['http://intranet/']],
] as const) {
  test(`bypasses a proxy for ${JSON.stringify(bypass)}`, () => {
    const proxy = new ContextProxy(SERVER, bypass);
    expect(served.filter((url) => !proxy.serves(url))).toEqual([]);
    expect(bypassed.filter((url) => proxy.serves(url))).toEqual([]);
  });
}
