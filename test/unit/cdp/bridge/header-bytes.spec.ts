import assert from 'node:assert/strict';
import { validateHeaderValue } from 'node:http';
import { test } from '@playwright/test';
import fc from 'fast-check';
import { binaryHeaders, reportedText, wireText } from '../../../../src/cdp/bridge/headers/header-bytes.ts';
import { PageHeaders } from '../../../../src/cdp/bridge/headers/page-headers.ts';
import { pausedRequest, requestHeaders } from '../../../../src/cdp/bridge/requests/paused-request.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { modelWith } from '../../../support/unit/cdp/model-with.ts';

/** Bytes that a header may have, one character each. */
const wire = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code === 0x7f ? 0x20 : code)),
});
const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,8}$/);
const text = fc.string({ unit: fc.constantFrom(...'a =é測ключ😀\xff') });
/** Checked by Node's own assertions: Playwright's take longer than all the rest. */
const RUNS = 2_000;

test('text of any alphabet is sent as UTF-8, by an HTTP that takes nothing but bytes', () => {
  fc.assert(
    fc.property(text, (value) => {
      const sent = wireText(value);
      assert.equal(Buffer.from(sent, 'latin1').toString('utf8'), value);
      validateHeaderValue('x-any', sent);
    }),
    propertyRuns(RUNS),
  );
});

test('headers of an answer reach the browser byte for byte, in their order', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ name, value: wire })), (headers) => {
      const pieces = Buffer.from(binaryHeaders(headers), 'base64').toString('latin1').split('\0');
      const read = pieces.map((piece) => /^(.*?): (.*)$/s.exec(piece)?.slice(1));
      assert.deepEqual(read, [...headers.map(({ name, value }) => [name, value]), undefined]);
      for (const { value } of headers) assert.equal(reportedText(value).length, value.length);
    }),
    propertyRuns(RUNS),
  );
});

test('what a script gave is sent as it gave it, whatever the stopped request has left of it', () => {
  fc.assert(
    fc.property(wire, text, fc.array(text, { maxLength: 2 }), (given, cookie, left) => {
      const headers = new PageHeaders(modelWith('s'));
      // What is no UTF-8 is left out, and some of what is behind it; the rest is read as UTF-8.
      const read = Buffer.from(given, 'latin1').toString('utf8');
      const stopped = read.includes('\ufffd') ? left.join('') : read;
      const announced = { requestId: 'a', request: { url: 'http://x/', headers: { 'X-Any': given } } };
      headers.observe({ method: 'Network.requestWillBeSent', sessionId: 's', params: announced });
      const request = { url: 'http://x/', method: 'GET', headers: { 'x-any': stopped, Cookie: cookie } };
      const paused = pausedRequest('s', { requestId: 'i', networkId: 'a', request } as object);
      if (!paused) throw new Error('the request was not read');
      const sent = requestHeaders(paused, {}, headers);
      assert.equal(sent.Cookie, wireText(cookie));
      // The one case that cannot be told apart: what is left is what was given.
      if (stopped !== given) assert.equal(sent['x-any'], given);
      // Of a document the browser itself has made UTF-8.
      const document = pausedRequest('s', {
        requestId: 'i',
        networkId: 'a',
        request: { ...request, headers: { 'x-any': given } },
      } as object);
      assert.equal(document && requestHeaders(document, {}, headers)['x-any'], wireText(given));
    }),
    propertyRuns(RUNS),
  );
});
