import { expect, test } from '@playwright/test';
import { redactText } from '../../src/redact.ts';

test.describe('redactText', () => {
  test('cuts CDP addresses to their host', () => {
    expect(redactText('failed: ws://user:pw@127.0.0.1:9/devtools/abc?token=s3cret, retry')).toBe(
      'failed: ws://127.0.0.1:9/*** retry',
    );
  });

  test('masks credentials in URLs of any scheme, bearer tokens and named secrets', () => {
    expect(redactText('socks5://u:p@proxy:1080')).toBe('socks5://***@proxy:1080');
    expect(redactText('Authorization: Bearer abc.def')).toBe('Authorization: Bearer ***');
    expect(redactText('key is k-123456', ['k-123456'])).toBe('key is ***');
  });

  test('leaves ordinary text alone', () => {
    const text = 'GET https://example.test/a?b=c answered 200';
    expect(redactText(text, ['x'])).toBe(text);
  });
});
