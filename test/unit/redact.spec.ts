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

  test('takes time in proportion to the text, whatever it is made of', () => {
    for (const part of ['a-', 'a.', '-', 'a://', 'x:y@', 'http://u:', 'socks5://', 'ws', 'bearer ', 'a:1/', '"<', '\\'])
      expect(growth(part), `a run of ${part}`).toBeLessThan(16);
  });
});

/** How the time grows when the text is 64 times as long, over 64: 1 for linear work, 64 for quadratic. */
function growth(part: string): number {
  const text = (length: number) => part.repeat(Math.ceil(length / part.length));
  const [short, long] = [text(4_000), text(256_000)];
  fastest(short, 20); // for the compiler
  return fastest(long, 4) / fastest(short, 20) / 64;
}

/** The shortest of several times, in ms: what else the machine does only adds. */
function fastest(text: string, turns: number): number {
  const times = Array.from({ length: turns }, () => {
    const before = performance.now();
    redactText(text);
    return performance.now() - before;
  });
  return Math.min(...times);
}
