import { expect, test } from '@playwright/test';
import { relayAddress, relayProblem } from '../../../src/options/schema/relay-address.ts';

test('accepts only addresses that nobody on the way can read', () => {
  for (const address of [
    'wss://relay.example.com',
    'wss://relay.example.com:8443',
    'ws://127.0.0.1:1',
    'ws://localhost:1',
    'ws://[::1]:1',
    'none',
  ]) {
    expect(relayProblem(address), address).toBeNull();
  }
  for (const address of ['ws://relay.example.com', 'https://relay.example.com', 'relay', 'ws://127.0.0.1.evil.org']) {
    expect(relayProblem(address), address).toContain('wss://');
  }
  for (const address of ['wss://user:word@relay.example.com', 'wss://relay.example.com/?token=1']) {
    expect(relayProblem(address), address).toContain('POOLWRIGHT_RELAY_SECRET');
  }
});

test('overrides the variable with the option', () => {
  const environment = { POOLWRIGHT_RELAY: 'wss://a.example.com' };
  expect(relayAddress(undefined, {})).toBeUndefined();
  expect(relayAddress(undefined, { POOLWRIGHT_RELAY: '' })).toBeUndefined();
  expect(relayAddress(undefined, environment)).toBe('wss://a.example.com');
  expect(relayAddress('wss://b.example.com', environment)).toBe('wss://b.example.com');
  expect(relayAddress('none', environment)).toBeUndefined();
  expect(() => relayAddress(undefined, { POOLWRIGHT_RELAY: 'ws://user:word@x.example.com' })).toThrow(
    'POOLWRIGHT_RELAY',
  );
});
