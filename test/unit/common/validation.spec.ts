import { z } from 'zod';
import { describeIssues, parseOrThrow } from '../../../src/common/validation.ts';
import { OptionsError, PoolwrightError } from '../../../src/errors.ts';
import { ServiceClient } from '../../../src/service/index.ts';
import { createSessionRequest } from '../../../src/service/schemas/index.ts';
import { API_KEY, everythingOf, expect, failureOf, test } from '../../support/unit/http-service.ts';

function problems(schema: z.ZodType, value: unknown): string[] {
  const result = schema.safeParse(value);
  if (result.success) throw new Error('is valid');
  return describeIssues(result.error, value, schema);
}

test.describe('a create body', () => {
  const cases: Array<[unknown, string[]]> = [
    [{ duration: 30 }, ['`duration`: must be ≥ 60 (60 to 3600), got 30']],
    [{ duration: 3601 }, ['`duration`: must be ≤ 3600 (60 to 3600), got 3601']],
    [{ duration: 60.5 }, ['`duration`: must be an integer, got 60.5']],
    [{ duration: '60' }, ['`duration`: must be a number, got "60"']],
    [{ type: 'stealth' }, ['`type`: must be one of "hosted", "hosted_stealth", "hosted_privacy", got "stealth"']],
    [{ country: 'DEU' }, ['`country`: must be exactly 2 letters, for example US or DE, got "DEU"']],
    [{ language: 'd' }, ['`language`: must have ≥ 2 characters (2 to 64), got "d"']],
    [{ note: 'n'.repeat(257) }, ['`note`: must have ≤ 256 characters (its value is not shown)']],
    [
      { windowSize: '100x100' },
      [
        '`windowSize`: must match WIDTHxHEIGHT, width 320 to 16384 and height 200 to 16384, for example 1280x720, got "100x100"',
      ],
    ],
    [{ contry: 'DE' }, ['`contry`: unknown key, did you mean `country`?']],
    [{ proxyURL: 'socks5://a:b@c:1' }, ['`proxyURL`: unknown key, did you mean `proxyUrl`?']],
    [
      { profile: { nam: 'x' } },
      ['`profile.name`: is required: a string', '`profile.nam`: unknown key, did you mean `name`?'],
    ],
    [{ profile: 'x' }, ['`profile`: must be an object, got "x"']],
    [{ extensionIds: ['a', ''] }, ['`extensionIds[1]`: must have ≥ 1 characters, got ""']],
    [{ adblock: 1, note: null }, ['`adblock`: must be true or false, got 1', '`note`: must be a string, got null']],
    ['x', ['must be an object, got "x"']],
  ];
  for (const [value, expected] of cases) {
    test(`${JSON.stringify(value).slice(0, 50)}`, () => {
      expect(problems(createSessionRequest, value)).toEqual(expected);
    });
  }

  test('lists all known keys when an unknown key resembles none', () => {
    const [line] = problems(createSessionRequest, { zzzzzzzzzz: 1 });
    expect(line).toMatch(/^`zzzzzzzzzz`: unknown key; known keys: .*country.*duration/);
  });

  test('hides values of secret fields, and masks credentials in others', () => {
    expect(problems(createSessionRequest, { proxyUrl: 'http//u:hunter22@p' }).join()).toMatch(
      /^`proxyUrl`: must be a SOCKS5 .* \(its value is not shown\)$/,
    );
    expect(problems(createSessionRequest, { country: 'socks5://u:hunter22@p' })).toEqual([
      '`country`: must be exactly 2 letters, for example US or DE, got "socks5://p"',
    ]);
  });
});

test.describe('any schema', () => {
  const schema = z.strictObject({
    pool: z.union([z.string().min(1), z.strictObject({ create: createSessionRequest.partial() })]).optional(),
    mode: z.enum(['a', 'b']),
    list: z.array(z.strictObject({ size: z.int().positive() })).default([]),
  });

  test('describes the branch of a union that was meant', () => {
    expect(problems(schema, { mode: 'a', pool: { create: { contry: 'DE', duration: 1 } } })).toEqual([
      '`pool.create.duration`: must be ≥ 60 (60 to 3600), got 1',
      '`pool.create.contry`: unknown key, did you mean `country`?',
    ]);
    expect(problems(schema, { mode: 'a', pool: { craete: {} } })).toEqual([
      '`pool.create`: is required: an object',
      '`pool.craete`: unknown key, did you mean `create`?',
    ]);
    expect(problems(schema, { mode: 'a', pool: 5 })).toEqual(['`pool`: must be a string or an object, got 5']);
    const workers = z.union([z.literal('auto'), z.number().int().min(1)]);
    expect([problems(workers, 'many'), problems(workers, 0), problems(workers, 1.5)]).toEqual([
      ['must be "auto" or a number, got "many"'],
      ['must be ≥ 1, got 0'],
      ['must be "auto" or an integer, got 1.5'],
    ]);
    expect(problems(schema, { mode: 'a', pool: '' })).toEqual(['`pool`: must have ≥ 1 characters, got ""']);
  });

  test('describes the branch of a union with the fewest problems', () => {
    const either = z.union([z.strictObject({ a: z.string(), b: z.string() }), z.strictObject({ c: z.string() })]);
    expect(problems(either, { c: 5 })).toEqual(['`c`: must be a string, got 5']);
  });

  test('names list entries and missing fields by their path', () => {
    expect(problems(schema, { list: [{ size: 0, sise: 1 }] })).toEqual([
      '`mode`: is required: one of "a", "b"',
      '`list[0].size`: must be > 0, got 0',
      '`list[0].sise`: unknown key, did you mean `size`?',
    ]);
  });

  test('parseOrThrow returns the value, or throws the given error', () => {
    expect(parseOrThrow(schema, { mode: 'a' }, () => new Error('no'))).toEqual({ mode: 'a', list: [] });
    expect(() => parseOrThrow(schema, {}, (lines) => new TypeError(lines.join()))).toThrow(
      new TypeError('`mode`: is required: one of "a", "b"'),
    );
  });
});

test.describe('before a request is sent', () => {
  test('reports all problems of a request in one error, without secrets', async ({ service, connect }) => {
    const body = { duration: 30, proxyUrl: 'http://user:hunter22@proxy:8080', contry: 'DE' };
    const failure = await failureOf(connect().client.createSession(body as object), PoolwrightError);
    expect(failure.code).toBe('REQUEST_INVALID');
    expect(failure.message).toBe(
      [
        'POST /v1/browser/session was not sent, because it is not valid:',
        '  - `proxyUrl`: must be a SOCKS5 or SOCKS5H URL (socks5://user:password@host:port) or a dedicated address (dedicated://<ip>, dedicated://any, dedicated://any~country-XX); HTTP proxies are not supported, got "http://proxy:8080"',
        '  - `duration`: must be ≥ 60 (60 to 3600), got 30',
        '  - `contry`: unknown key, did you mean `country`?',
      ].join('\n'),
    );
    expect(everythingOf(failure)).not.toContain('hunter22');
    expect(service.seen).toHaveLength(0);
  });

  test('checks the arguments of each call', async ({ service, connect }) => {
    const { client } = connect();
    const calls: Array<[Promise<unknown>, string]> = [
      [client.getSession(''), '`sessionId`: must have ≥ 1 characters, got ""'],
      [client.stopSession(''), '`sessionId`: must have ≥ 1 characters'],
      [client.updateSession('s-1', { note: 'x'.repeat(257) }), '`note`: must have ≤ 256 characters'],
      [client.listSessions({ pageSize: 101 }), '`pageSize`: must be ≤ 100 (1 to 100), got 101'],
      [client.iterateSessions({ page: 0 }).next(), '`page`: must be ≥ 1, got 0'],
      [client.getPool('short'), 'must have ≥ 6 characters (6 to 80), got "short"'],
      [client.createPool({ name: '', size: 0 }), '`size`: must be > 0, got 0'],
      [
        client.updatePool('pool_e2e', { leaseTimeoutSeconds: 29 }),
        '`leaseTimeoutSeconds`: must be ≥ 30 (30 to 86400), got 29',
      ],
      [client.acquire('pool_e2e', { waitMs: 30_001 }), '`waitMs`: must be ≤ 30000 (0 to 30000), got 30001'],
      [client.release('pool_e2e', ''), '`leaseId`: must have ≥ 1 characters'],
      [client.listPools({ timeout: 0 }), '`timeout`: must be ≥ 1 (1 to 2147483647), got 0'],
    ];
    for (const [call, says] of calls) {
      const failure = await failureOf(call, PoolwrightError);
      expect(failure.code).toBe('REQUEST_INVALID');
      expect(failure.message).toContain(says);
    }
    expect(service.seen).toHaveLength(0);
  });

  test("checks the client's options", () => {
    const make = (options: object) => () =>
      new ServiceClient({ baseURL: 'http://a.test', apiKey: API_KEY, ...options });
    expect(make({ baseURL: 'a.test' })).toThrow(OptionsError);
    expect(make({ baseURL: 'ftp://a.test' })).toThrow('`baseURL`: must be an http:// or https:// address');
    expect(make({ baseURL: 'http://user:hunter22@a.test' })).toThrow(/, got "http:\/\/a\.test"$/);
    expect(make({ apiKey: '' })).toThrow('POOLWRIGHT_API_KEY');
    expect(make({ timeout: 0 })).toThrow('`timeout`: must be ≥ 1');
    expect(make({ apiKey: `${API_KEY}\n` })).toThrow('(its value is not shown)');
    expect(make({ apiKey: `${API_KEY}\n` })).not.toThrow(API_KEY);
  });
});
