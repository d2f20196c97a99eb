import { expect, test } from '@playwright/test';
import { ownNames } from '../../../src/common/url/host-rules.ts';

const HOSTS = `
# the file of a developer
127.0.0.1   localhost app.test api.app.test # both
::1\tip6-localhost ip6-loopback
127.0.1.1 Laptop.lan laptop
192.168.7.5 laptop-on-wifi
192.168.7.6 printer
0.0.0.0 ads.example
:: ads.example
255.255.255.255 broadcasthost
127.0.0.1
127.0.0.1 a.localhost 10.0.0.1 bad/name *.star
`;

test('finds the names of this machine in its hosts file', () => {
  expect(ownNames(HOSTS, 'Laptop', new Set(['127.0.0.1', '192.168.7.5']))).toEqual([
    'laptop',
    'app.test',
    'api.app.test',
    'ip6-localhost',
    'ip6-loopback',
    'laptop.lan',
    'laptop-on-wifi',
  ]);
});

test('takes only the first names of a long hosts file', () => {
  const blocked = Array.from({ length: 5_000 }, (_, at) => `127.0.0.1 ads-${at}.example\r\n`).join('');
  const names = ownNames(`127.0.0.1 app.test\n${blocked}`, '', new Set());
  expect([names.length, names.slice(0, 2)]).toEqual([100, ['app.test', 'ads-0.example']]);
});
