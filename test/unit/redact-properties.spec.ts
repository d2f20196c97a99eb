import { equal, ok } from 'node:assert/strict';
import { inspect } from 'node:util';
import { test } from '@playwright/test';
import fc, { type Arbitrary } from 'fast-check';
import { redactText } from '../../src/redact.ts';
import { propertyRuns } from '../support/property-runs.ts';

/** Nothing with an asterisk: what masks may stand beside it. */
const secret: Arbitrary<string> = fc
  .oneof(
    fc.string({ minLength: 4, maxLength: 40 }),
    fc.string({ minLength: 4, maxLength: 20, unit: 'grapheme' }),
    fc.string({ minLength: 4, maxLength: 20, unit: fc.constantFrom(...'.^$+?()[]{}|\\/-:@&=% \'"`aZ9') }),
    fc.string({ minLength: 8, maxLength: 40, unit: fc.constantFrom(...'abcXYZ0189-_') }),
  )
  .filter((text) => !text.includes('*'));

/** How a secret gets into what is logged, beside as it is. */
const FORMS: ((text: string) => string)[] = [
  (text) => text,
  encodeURIComponent,
  encodeURI,
  (text) => encodeURIComponent(text).replaceAll(/%../g, (code) => code.toLowerCase()),
  (text) => new URLSearchParams({ '': text }).toString().slice(1),
  (text) => JSON.stringify(text),
  (text) => inspect({ text }),
  (text) => inspect([text]),
  inHtml,
  (text) => inHtml(JSON.stringify(text)),
];

function inHtml(text: string): string {
  const entities: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', '\u00a0': 'nbsp' };
  return text.replaceAll(/[&<>"\u00a0]/g, (character) => `&${entities[character]};`);
}

test('masks a known secret in every text, in every notation', () => {
  const property = fc.property(
    fc.array(secret, { minLength: 1, maxLength: 4 }),
    fc.constantFrom(...FORMS),
    fc.string(),
    fc.string(),
    (secrets, form, before, after) => {
      // One that begins with another must not keep its end.
      const all = [
        ...secrets,
        ...secrets.map((each) => [...each].slice(0, 4).join('')),
        ...secrets.map((each) => `${each}tail`),
      ];
      for (const each of all) {
        const clean = redactText(`${before}${form(each)}${after}`, all);
        for (const other of all) expectGone(clean, other);
      }
    },
  );
  fc.assert(property, propertyRuns(300));
});

test('masks a known secret in objects, and in errors with stack and causes', () => {
  const name = fc.string({ maxLength: 8 });
  const property = fc.property(secret, name, fc.jsonValue({ maxDepth: 2 }), (hidden, key, more) => {
    const object = { [key]: [hidden, { deep: { [hidden]: `${key}${hidden}` } }], more };
    const cause = Object.assign(new TypeError(`refused: ${hidden}`), { object });
    const error = new Error(`${key} failed with ${hidden}`, { cause });
    for (const text of [JSON.stringify(object), JSON.stringify(object, null, 2), error.message, `${error.stack}`]) {
      expectGone(redactText(text, [hidden]), hidden);
    }
    // `inspect` escapes unprintable characters, which a header could not contain.
    if (/^[\x20-\x7e]*$/.test(hidden)) expectGone(redactText(inspect(error, { depth: 9 }), [hidden]), hidden);
  });
  fc.assert(property, propertyRuns(300));
});

/** Where an address stands in what people read. */
const sentence: Arbitrary<(address: string) => string> = fc.constantFrom(
  (address) => address,
  (address) => `<ws connecting> ${address}`,
  (address) => `cannot reach ${address}: it was closed`,
  (address) => `failed ('${address}'), "${address}", [${address}] <${address}>`,
  (address) => JSON.stringify({ cdpUrl: address, other: [address] }),
  (address) => inspect({ address }),
  (address) => `${new Error(`at ${address}`).stack}`,
  (address) => `http://127.0.0.1/inspect?ws=${encodeURIComponent(address)}&x=1`,
  (address) => `see=${address.replace(/^ws/, 'WS')};`,
);
const HOSTS = ['127.0.0.1:9222', '[::1]:9', 'node-7.example.test', 'example.test:443'];
const host = fc.constantFrom(...HOSTS);
/** Characters that a path or query may hold (RFC 3986), long enough to be no word of the sentence. */
const token = fc
  .string({ minLength: 8, maxLength: 60, unit: fc.constantFrom(..."abzABZ0189-._~!$&'()+,;=:@%2F") })
  .filter((text) => /[a-z0-9]{2}/i.test(text));

test('keeps scheme and host of a CDP address, known or not', () => {
  const path = fc.constantFrom('/cdp/', '/devtools/browser/', '/?token=', '?token=', '/a/b?x=1&key=', '#');
  const login = fc.oneof(
    fc.constant(''),
    fc.tuple(token, token).map(([user, word]) => `${user}:${word}@`),
  );
  const scheme = fc.constantFrom('ws', 'wss');
  const property = fc.property(scheme, login, host, path, token, sentence, (ws, who, where, way, hidden, say) => {
    const clean = redactText(say(`${ws}://${who}${where}${way}${hidden}`));
    expectGone(clean, hidden);
    for (const word of who.slice(0, -1).split(':')) if (word.length >= 8) expectGone(clean, word);
    if (!clean.includes('inspect?ws=')) ok(clean.includes(`://${where}/***`), clean);
  });
  fc.assert(property, propertyRuns(500));
});

test("masks a proxy's user and password, encoded or not", () => {
  const plain = fc.string({ minLength: 6, maxLength: 30, unit: fc.constantFrom(...'abzABZ0189-._~!$&+,;=:@/?#%()[]') });
  const any = fc.string({ minLength: 6, maxLength: 30, unit: 'grapheme' }).map(encodeURIComponent);
  const normal = plain.map((text) => {
    const url = new URL('socks5://h');
    url.password = text;
    return url.password;
  });
  const scheme = fc.constantFrom('socks5', 'SOCKS5H');
  const password = fc.oneof(plain, any, normal).filter((text) => /[a-z0-9]{2}/i.test(text) && text.length >= 6);
  const property = fc.property(scheme, password, host, sentence, (proxy, hidden, where, say) => {
    const address = `${proxy}://user-name:${hidden}@${where}`;
    const text = say(address);
    // Within another address its scheme cannot be seen: there it has to be named.
    const clean = redactText(text, text.includes(address) ? [] : [hidden]);
    expectGone(clean, hidden);
    if (text.includes(address)) ok(!clean.includes('user-name'), clean);
  });
  fc.assert(property, propertyRuns(500));
});

test('masks user and password of a base address, unless they look like a port', () => {
  const password = fc
    .string({ minLength: 6, maxLength: 30, unit: fc.constantFrom(..."abzABZ0189-._~!$&'+,;=:@/?#%()[]") })
    .filter((text) => /[a-z0-9]{2}/i.test(text) && !/^\d*[/?#]/.test(text));
  const property = fc.property(fc.constantFrom('http', 'https'), password, host, (scheme, hidden, where) => {
    const clean = redactText(`cannot reach ${scheme}://user-name:${hidden}@${where}/v1 (refused)`);
    expectGone(clean, hidden);
    equal(clean, `cannot reach ${scheme}://***@${where}/v1 (refused)`);
  });
  fc.assert(property, propertyRuns(300));
});

test('keeps addresses without a secret readable', () => {
  const segment = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(...'abz019-._~@') });
  const property = fc.property(host, fc.array(segment, { maxLength: 4 }), (where, path) => {
    const address = `see https://${where}/${path.join('/')} for more`;
    equal(redactText(address, ['not-in-there']), address);
  });
  fc.assert(property, propertyRuns(200));
});

/** Neither as it is nor for somebody who decodes what is left. */
function expectGone(clean: string, hidden: string): void {
  const traces = [hidden, encodeURIComponent(hidden), JSON.stringify(hidden).slice(1, -1)];
  const isThere = traces.some((trace) => clean.includes(trace)) || decoded(clean).includes(hidden);
  // Thousands of times: an `expect` for each would take a minute.
  if (isThere) throw new Error(`${inspect(hidden)} is in ${inspect(clean)}`);
}

function decoded(text: string): string {
  return text.replaceAll(/(?:%[\da-f]{2})+/gi, (codes) => {
    try {
      return decodeURIComponent(codes);
    } catch {
      return codes;
    }
  });
}
