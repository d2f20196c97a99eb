import type { LookupAddress } from 'node:dns';
import type { lookup as resolve } from 'node:dns/promises';
import { expect, test } from '@playwright/test';
import { allowedLookup, isPrivate } from '../../../src/relay/allowed-hosts.ts';

const HOSTS = ['cdp.example.com', '*.browsers.example.com', '127.0.0.1', '[::1]'];

/** DNS with these addresses for every name. */
function dns(...addresses: string[]): typeof resolve {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (async () => found) as unknown as typeof resolve;
}

async function refusal(url: string, addresses: string[], allowPrivate = false): Promise<string | null> {
  return await allowedLookup(url, { hosts: HOSTS, allowPrivate }, dns(...addresses)).then(
    () => null,
    ({ message }: Error) => message,
  );
}

test('connects only to listed hosts', async () => {
  expect(await refusal('wss://cdp.example.com/x?token=1', ['8.8.8.8'])).toBeNull();
  expect(await refusal('wss://CDP.example.com:444/', ['8.8.8.8'])).toBeNull();
  expect(await refusal('wss://a.b.browsers.example.com/', ['8.8.8.8'])).toBeNull();
  for (const host of [
    'example.com',
    'browsers.example.com',
    'xbrowsers.example.com',
    'cdp.example.com.evil.org',
    'xcdp.example.com',
    '8.8.8.8',
    'user@evil.org',
  ]) {
    expect(await refusal(`wss://${host}/?token=hidden`, ['8.8.8.8']), host).toContain('may not connect');
  }
  expect(await refusal('wss://evil.org/?token=hidden', ['8.8.8.8'])).not.toContain('hidden');
  expect(await refusal('http://cdp.example.com/', ['8.8.8.8'])).toContain('not a ws://');
  expect(await refusal('nothing', ['8.8.8.8'])).toContain('not a ws://');
});

test('refuses a listed host with a private address, even if another one is public', async () => {
  expect(await refusal('wss://cdp.example.com/', ['8.8.8.8', '10.0.0.1'])).toContain('private address');
  expect(await refusal('ws://127.0.0.1:1/', ['127.0.0.1'])).toContain('private address');
  expect(await refusal('ws://[::1]:1/', ['::1'])).toContain('private address');
  expect(await refusal('ws://[::1]:1/', ['::1'], true)).toBeNull();
  expect(await refusal('wss://cdp.example.com/', [])).toContain('cannot resolve');
});

test('connects to the addresses that were checked', async () => {
  const lookup = await allowedLookup('wss://cdp.example.com/', { hosts: HOSTS, allowPrivate: false }, dns('8.8.8.8'));
  const one = await new Promise((done) => lookup('evil.org', {}, (_error, ...found) => done(found)));
  expect(one).toEqual(['8.8.8.8', 4]);
  const all = await new Promise<LookupAddress[]>((done) => {
    lookup('evil.org', { all: true }, (_error, found) => done(found as LookupAddress[]));
  });
  expect(all).toEqual([{ address: '8.8.8.8', family: 4 }]);
});

test('knows which addresses are private', () => {
  for (const address of [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.31.255.255',
    '192.168.1.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    'fc00::1',
    'fe80::1',
    'ff02::1',
    '2001:db8::1',
    '2002:a00:1::',
  ]) {
    expect(isPrivate(address), address).toBe(true);
  }
  for (const address of ['8.8.8.8', '100.128.0.1', '172.32.0.1', '2606:4700::1111', '2a00:1450::1']) {
    expect(isPrivate(address), address).toBe(false);
  }
});
