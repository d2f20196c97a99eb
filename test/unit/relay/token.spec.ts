import { expect, test } from '@playwright/test';
import { browserHash, issueRelayToken, readRelayToken } from '../../../src/relay/relay-token.ts';
import { UsedTokens } from '../../../src/relay/server.ts';

const SECRET = 'a secret of 32 characters or more';
const CDP = 'wss://cdp.example.com/session/1?token=hidden';
const NOW = 1_700_000_000_000;

test('accepts a token for five minutes, and names its browser by a hash', () => {
  const token = issueRelayToken(SECRET, CDP, NOW);
  expect(readRelayToken(SECRET, token, NOW + 299_000)?.browser).toBe(browserHash(CDP));
  expect(readRelayToken(SECRET, token, NOW + 300_000)).toBeNull();
  expect(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).not.toContain('hidden');
});

test('rejects a token of another secret, with other content, or without a signature', () => {
  const token = issueRelayToken(SECRET, CDP, NOW);
  const [body = '', signature = ''] = token.split('.');
  const forged = Buffer.from(
    Buffer.from(body, 'base64url')
      .toString()
      .replace(/"expiresAt":\d/, '"expiresAt":9'),
  );
  for (const wrong of [
    issueRelayToken(`${SECRET}!`, CDP, NOW),
    `${forged.toString('base64url')}.${signature}`,
    `${token}.x`,
    body,
    `${body}.`,
    `.${signature}`,
    '',
  ]) {
    expect(readRelayToken(SECRET, wrong, NOW), wrong).toBeNull();
  }
});

test('accepts each token once', () => {
  const used = new UsedTokens();
  const claims = (id: string) => ({ id, browser: 'b', expiresAt: NOW + 10 });
  expect(used.add(claims('1'), NOW)).toBe(true);
  expect(used.add(claims('1'), NOW)).toBe(false);
  expect(used.add(claims('2'), NOW)).toBe(true);
  expect(used.add(claims('1'), NOW + 9)).toBe(false);
});
