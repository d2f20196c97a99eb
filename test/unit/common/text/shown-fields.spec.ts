import { expect, test } from '@playwright/test';
import * as z from 'zod';
import {
  addressSecrets,
  got,
  SHOWN_FIELDS,
  type Shown,
  shownOptions,
} from '../../../../src/common/text/shown-fields.ts';
import type { Environment } from '../../../../src/options/environment.ts';
import { parseHostedOptions } from '../../../../src/options/schema/parse.ts';
import { type HostedOptions, hostedOptions } from '../../../../src/options/schema/schema.ts';
import { redactText } from '../../../../src/redact.ts';
import { SECRETS, WORD } from '../../../support/secrets.ts';

/** The names of all fields, at any depth. */
type FieldsOf<T> = T extends readonly (infer Item)[]
  ? FieldsOf<Item>
  : T extends object
    ? (keyof T & string) | { [K in keyof T]: FieldsOf<T[K]> }[keyof T]
    : never;
type Required<T> = T extends object ? { [K in keyof T]-?: Required<NonNullable<T[K]>> } : T;

// Does not compile when a field has no entry.
SHOWN_FIELDS satisfies Record<FieldsOf<Required<HostedOptions>> | keyof Environment, Shown>;

/** Every place of a text in these options, as a path of field names; `[]`: an item of a list. */
function textPlaces(schema: z.core.$ZodType, path: string[] = []): string[][] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return textPlaces(schema.unwrap(), path);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((each) => textPlaces(each, path));
  if (schema instanceof z.ZodArray) return textPlaces(schema.element, [...path, '[]']);
  if (schema instanceof z.ZodObject) {
    return Object.entries<z.core.$ZodType>(schema.shape).flatMap(([name, field]) => textPlaces(field, [...path, name]));
  }
  // Any field may get a text that it refuses.
  return [path];
}

function optionsWith(value: unknown, path: readonly string[]): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  return first === '[]' ? [optionsWith(value, rest)] : { [first]: optionsWith(value, rest) };
}

/** Others read a name: a key that is used as one is public. */
const NAMES = [
  'pool',
  'exposeNetwork',
  'provider',
  'name',
  'timings',
  'nodeId',
  'extensionIds',
  'timezone',
  'language',
  'acceptLang',
].concat('ttsLanguage', 'gpu');

for (const [kind, secretAt] of Object.entries(SECRETS)) {
  test(`${kind} is not shown from any option, nor when it is refused`, () => {
    const secret = secretAt('browsers.test:9222');
    const places = textPlaces(hostedOptions).filter((path) => {
      const name = path.findLast((each) => each !== '[]') ?? '';
      return secret.includes('://') || !NAMES.includes(name);
    });
    expect(places.length).toBeGreaterThan(40);
    const leaks = places.filter((path) => {
      const value = optionsWith(secret, path) as HostedOptions;
      try {
        return JSON.stringify(shownOptions(parseHostedOptions(value, 'options'))).includes(WORD);
      } catch (error) {
        return String(error).includes(WORD);
      }
    });
    expect(leaks).toEqual([]);
  });
}

test('addresses show scheme, host and port', () => {
  const url = `https://user:${WORD}@browsers.test:9222/${WORD}?token=${WORD}&x=${WORD}#${WORD}`;
  expect(
    shownOptions({
      browsers: [url, { url, max: 2 }],
      baseURL: url,
      apiKey: 'key',
      relay: 'wss://relay.test/path',
      session: { proxyUrl: `socks5://user:${WORD}@proxy.test:1080`, url: 'https://site.test/?q=1', note: 'mine' },
      unknown: 'x',
    }),
  ).toEqual({
    browsers: ['https://browsers.test:9222', { url: 'https://browsers.test:9222', max: 2 }],
    baseURL: 'https://browsers.test:9222',
    apiKey: '***',
    relay: 'wss://relay.test',
    session: { proxyUrl: 'socks5://proxy.test:1080', url: 'https://site.test', note: '***' },
  });
});

test('an address of which no part is certain is not shown', () => {
  for (const url of ['browsers.test:9222', `http://user:1/${WORD}@host`, `http://${WORD}?@host`, 'no address', 'http:'])
    expect(shownOptions({ browsers: [url] })).toEqual({ browsers: ['***'] });
});

test('a refused value is quoted if it is short, and no address', () => {
  expect(got('service', 'lokal')).toBe(', got "lokal"');
  expect(got('service', `sk_live_${WORD}${WORD}`)).toBe(', got 28 characters');
  expect(got('country', 'socks5://u:p@proxy.test')).toBe(', got "socks5://proxy.test"');
  expect(got('POOLWRIGHT_CDP_URL', 'host/secret')).toBe(' (its value is not shown)');
  expect(got('apiKey', 123)).toBe(' (its value is not shown)');
  expect(got('apiKey', null)).toBe(', got null');
});

test('the secrets of an address are masked in texts of others, also one of them alone', () => {
  const token = `${WORD}${WORD}`;
  const secrets = addressSecrets(`wss://user:pass%2Fword@host:1/devtools/browser/${token}?x=${token}b`);
  for (const text of ['user:pass%2Fword', 'pass%2Fword', 'pass/word', token, `${token}b`])
    expect(redactText(`no: ${text}.`, secrets)).toMatch(/^no: \*\*\*\.$/);
  expect(redactText('host devtools browser', secrets)).toBe('host devtools browser');
});
