import fc, { type Arbitrary } from 'fast-check';
import { anyText } from '../../support/any-text.ts';

/** Bodies of a create, as JSON texts: valid ones, valid ones with an error, and garbage. */

/** Stands for JSON that `JSON.stringify` cannot write: `1e999` is valid JSON for infinity; NaN is invalid. */
const asIs = (json: string) => `\u0000raw:${json}`;
const RAW_NUMBERS = ['1e999', '-1e999', '-0', '1e3', '60.0', '6e1', '1e-400', '9007199254740993', 'NaN', 'Infinity'];
const raw = fc.constantFrom(...RAW_NUMBERS).map(asIs);
const stringify = (value: unknown) => JSON.stringify(value).replaceAll(/"\\u0000raw:([^"]+)"/g, '$1');

const pixels = (min: number) => fc.integer({ min, max: 16_384 });
const size = fc.tuple(pixels(320), pixels(200)).map(([width, height]) => `${width}x${height}`);

/** Each of these fits all others. */
const coherent = {
  nodeId: fc.constantFrom('n1', 'n2'),
  country: fc.constantFrom('US', 'DE', 'ca', 'BR', 'JP'),
  type: fc.constantFrom('hosted', 'hosted_stealth', 'hosted_privacy'),
  url: fc.webUrl(),
  windowSize: size,
  displaySize: size,
  duration: fc.integer({ min: 60, max: 3600 }),
  profile: fc.record({ name: fc.string({ minLength: 1 }), persist: fc.boolean() }, { requiredKeys: ['name'] }),
  adblock: fc.constant(false),
  captchaSolver: fc.constant(false),
  extensionIds: fc.constant([]),
  browserCheck: fc.boolean(),
  note: anyText({ maxLength: 200 }),
};
/** Some of these contradict a country, and there is no dedicated address. */
const place = {
  proxyUrl: fc.constantFrom('socks5://u:p%40ss@127.0.0.1:1080', 'socks5h://[::1]:9', 'dedicated://any'),
  timezone: fc.constantFrom('America/New_York', 'Europe/Berlin', 'America/Toronto', 'Asia/Tokyo'),
  language: fc.constantFrom('en-US', 'de-DE', 'ja', 'pt-BR'),
};
const valid = { ...coherent, ...place };
const good: Arbitrary<Record<string, unknown>> = fc.oneof(
  fc.record(valid, { requiredKeys: [] }),
  fc.record(coherent, { requiredKeys: [] }),
);

const rubbish: Arbitrary<unknown> = fc.oneof(
  raw,
  fc.jsonValue({ maxDepth: 4 }),
  fc.double(),
  fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) }), // including lone surrogates
  fc.constantFrom('\u202e\u0000\ufeff', '🏴\u200d☠️'.repeat(99), 'é'.normalize('NFD'), '../../etc/passwd'),
  fc.integer({ min: 250, max: 100_000 }).map((length) => 'x'.repeat(length)),
  fc.integer({ min: 1, max: 20_000 }).map((length) => Array.from({ length }, (_, index) => `ext_${index}`)),
  fc.integer({ min: 1, max: 50_000 }).map((depth) => asIs('['.repeat(depth) + ']'.repeat(depth))),
);

/** Values of the right type that are near a limit or have no meaning. */
const nearlyValid: Arbitrary<[string, unknown]> = fc.oneof(
  fc.tuple(fc.constant('duration'), fc.oneof(fc.constantFrom(59, 60, 3600, 3601, 60.5), raw)),
  fc.tuple(
    fc.constant('note'),
    fc.integer({ min: 254, max: 258 }).map((length) => 'n'.repeat(length)),
  ),
  fc.tuple(
    fc.constantFrom('windowSize', 'displaySize'),
    fc.constantFrom('319x200', '320x199', '16385x200', '0320x0200', '320X200', '١٢٣٤x٥٦٧', '800x600\n', '1e3x400'),
  ),
  fc.tuple(fc.constant('country'), fc.oneof(fc.string({ minLength: 2, maxLength: 2 }), fc.constantFrom('XX', 'ZZ'))),
  fc.tuple(fc.constantFrom('timezone', 'language', 'nodeId', 'url'), fc.string({ maxLength: 130 })),
  fc.tuple(
    fc.constant('proxyUrl'),
    fc.oneof(
      fc.string().map((rest) => `socks5://${rest}`),
      fc.string().map((rest) => `dedicated://${rest}`),
      fc.constantFrom('http://u:p@h:1', 'socks5://', 'dedicated://1.2.3.4', 'dedicated://any~country-US'),
    ),
  ),
  fc.tuple(fc.constant('profile'), fc.record({ name: fc.string(), more: fc.jsonValue() })),
);

const keys = fc.oneof(
  fc.constantFrom(...Object.keys(valid)),
  fc.constantFrom('__proto__', 'toString', ''),
  fc.string(),
);
const spoilt = fc
  .tuple(good, fc.array(fc.oneof(nearlyValid, fc.tuple(keys, rubbish)), { minLength: 1, maxLength: 3 }))
  // Without an assignment: `__proto__` must become a key.
  .map(([body, more]) => Object.fromEntries([...Object.entries(body), ...more]));

/** JSON texts of create bodies; a few contain a number that JSON does not support. */
export const createBodies: Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: good.map(stringify) },
  { weight: 5, arbitrary: spoilt.map(stringify) },
  { weight: 2, arbitrary: rubbish.map(stringify) },
);

/** JSON texts of valid bodies. */
export const goodBodies: Arbitrary<string> = good.map(stringify);
