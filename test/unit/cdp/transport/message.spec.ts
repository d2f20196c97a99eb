import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { fieldsOf, parseMessage } from '../../../../src/cdp/message.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

for (const text of ['', 'hello', 'null', '5', '"text"', '{"method":5}', '{"method":null}']) {
  test(`rejects what is not a CDP message: ${text || 'nothing'}`, () => {
    expect(parseMessage(text)).toBe(null);
  });
}

test('parses or rejects any input', () => {
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

test('finds no fields in a value that is not an object', () => {
  for (const value of [undefined, null, 5, 'text', true])
    expect(fieldsOf<{ name: string }>(value).name).toBe(undefined);
  expect(fieldsOf<{ name: string }>({ name: 5 }).name).toBe(5);
});
