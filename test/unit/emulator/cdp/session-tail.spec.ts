import { expect, test } from '@playwright/test';
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

test('a message gets a session and loses it, to the letter', () => {
  fc.assert(
    fc.property(message, session, (value, id) => {
      const text = JSON.stringify(value);
      const sent = withTail(Buffer.from(text), id);
      expect(JSON.parse(sent.toString())).toEqual({ ...JSON.parse(text), sessionId: id });
      expect(sessionInTail(sent)).toBe(id);
      expect(withoutTail(sent, id).toString()).toBe(text);
    }),
    propertyRuns(300),
  );
});

test('a session is found at the top level only, whatever the message holds', () => {
  fc.assert(
    fc.property(message, fc.option(session), (value, id) => {
      const text = JSON.stringify(id === null ? value : { ...value, sessionId: id });
      expect(sessionInTail(Buffer.from(text))).toBe(id ?? undefined);
    }),
    propertyRuns(300),
  );
});
