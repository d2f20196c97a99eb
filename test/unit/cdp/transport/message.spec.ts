import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { fieldsOf, parseMessage } from '../../../../src/cdp/transport/message.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

for (const text of ['', 'hello', 'null', '5', '"text"', '{"method":5}', '{"method":null}']) {
  test(`no message of CDP: ${text || 'nothing'}`, () => {
    expect(parseMessage(text)).toBe(null);
  });
}

test('whatever comes, it is read as it is or refused', () => {
  fc.assert(
    fc.property(
      fc.record({ id: fc.nat(), method: fc.string(), params: fc.jsonValue() }, { requiredKeys: [] }),
      (sent) => {
        expect(parseMessage(JSON.stringify(sent))).toEqual(JSON.parse(JSON.stringify(sent)));
      },
    ),
    propertyRuns(200),
  );
});

test('what is no object has no fields', () => {
  for (const value of [undefined, null, 5, 'text', true])
    expect(fieldsOf<{ name: string }>(value).name).toBe(undefined);
  expect(fieldsOf<{ name: string }>({ name: 5 }).name).toBe(5);
});
