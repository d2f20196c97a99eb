import assert from 'node:assert/strict';
import { validateHeaderValue } from 'node:http';
import { test } from '@playwright/test';
import fc from 'fast-check';
import { binaryHeaders, reportedText, wireText } from '../../../../src/cdp/network/headers/header-list.ts';
import { requestHeaders } from '../../../../src/cdp/network/request/paused-request.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

/** Valid bytes of a header, one character each. */
const wire = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code === 0x7f ? 0x20 : code)),
});
const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,8}$/);
const text = fc.string({ unit: fc.constantFrom(...'a =é測ключ😀\xff') });
/** Checked with Node's assertions: Playwright's would take longer than everything else. */
const RUNS = 2_000;

test('sends text of any alphabet as UTF-8 through an HTTP client that accepts only bytes', () => {
  fc.assert(
    fc.property(text, (value) => {
      const sent = wireText(value);
      assert.equal(Buffer.from(sent, 'latin1').toString('utf8'), value);
      validateHeaderValue('x-any', sent);
    }),
    propertyRuns(RUNS),
  );
});

test('passes response headers to the browser byte for byte, in their order', () => {
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

test('sends what a script set, regardless of what the paused request contains', () => {
  fc.assert(
    fc.property(wire, text, fc.array(text, { maxLength: 2 }), (given, cookie, left) => {
      // The browser drops bytes that are not UTF-8, and some after them; it reads the rest as UTF-8.
      const read = Buffer.from(given, 'latin1').toString('utf8');
      const stopped = read.includes('\ufffd') ? left.join('') : read;
      const announced = { headers: { 'X-Any': given } };
      const sent = requestHeaders({ headers: { 'x-any': stopped, Cookie: cookie } }, {}, announced);
      assert.equal(sent.Cookie, wireText(cookie));
      // The one ambiguous case: nothing was dropped.
      if (stopped !== given) assert.equal(sent['x-any'], given);
      // For a document, the browser itself has converted it to UTF-8.
      assert.equal(requestHeaders({ headers: { 'x-any': given } }, {}, announced)['x-any'], wireText(given));
    }),
    propertyRuns(RUNS),
  );
});
