import { deepEqual, equal } from 'node:assert/strict';
import { test } from '@playwright/test';
import fc from 'fast-check';
import { idAtHead, sessionInTail, withIdAtHead, withoutTail } from '../../../../src/emulator/cdp/message-bytes.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const session = fc.stringMatching(/^[0-9A-F]{32}$/);
const id = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const tricky = fc.oneof(
  fc.json(),
  fc.constantFrom(',"sessionId":"A"}', '{"sessionId":"B"}', '{"id":1,', '"}', '\\"', 'ä"}', '\u0000'),
);
const params = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom('sessionId', 'id', 'params'), tricky));
const event = fc.record({ method: tricky, params });
const response = fc.record({ id, result: params });

test('finds a session at the top level only, and removes it byte for byte', () => {
  fc.assert(
    fc.property(fc.oneof(event, response), fc.option(session), (value, sessionId) => {
      const text = JSON.stringify(value);
      const sent = Buffer.from(sessionId === null ? text : JSON.stringify({ ...value, sessionId }));
      equal(sessionInTail(sent), sessionId ?? undefined);
      if (sessionId !== null) equal(withoutTail(sent, sessionId).toString(), text);
    }),
    propertyRuns(300),
  );
});

test('finds the ID of a response, of no event, and replaces it', () => {
  fc.assert(
    fc.property(event, response, id, (other, value, replacement) => {
      equal(idAtHead(Buffer.from(JSON.stringify(other))), undefined);
      const sent = Buffer.from(JSON.stringify(value));
      equal(idAtHead(sent), value.id);
      const expected = JSON.parse(JSON.stringify({ ...value, id: replacement }));
      deepEqual(JSON.parse(withIdAtHead(sent, replacement).toString()), expected);
    }),
    propertyRuns(300),
  );
});
