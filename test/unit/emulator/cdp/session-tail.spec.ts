import { deepEqual, equal } from 'node:assert/strict';
import { test } from '@playwright/test';
import fc from 'fast-check';
import { sessionInTail, withoutTail, withTail } from '../../../../src/emulator/cdp/session-tail.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const session = fc.stringMatching(/^[0-9A-F]{32}$/);
const tricky = fc.oneof(
  fc.json(),
  fc.constantFrom(',"sessionId":"A"}', '{"sessionId":"B"}', '"}', '\\"', 'ä"}', '\u0000'),
);
const params = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom('sessionId', 'a', 'params'), tricky));
const message = fc.record({ id: fc.nat(), method: tricky, params });

test('adds a session to a message and removes it, byte for byte', () => {
  fc.assert(
    fc.property(message, session, (value, id) => {
      const text = JSON.stringify(value);
      const sent = withTail(Buffer.from(text), id);
      deepEqual(JSON.parse(sent.toString()), { ...JSON.parse(text), sessionId: id });
      equal(sessionInTail(sent), id);
      equal(withoutTail(sent, id).toString(), text);
    }),
    propertyRuns(300),
  );
});

test('finds a session at the top level only', () => {
  fc.assert(
    fc.property(message, fc.option(session), (value, id) => {
      const text = JSON.stringify(id === null ? value : { ...value, sessionId: id });
      equal(sessionInTail(Buffer.from(text)), id ?? undefined);
    }),
    propertyRuns(300),
  );
});
