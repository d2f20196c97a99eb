import { deepEqual } from 'node:assert/strict';
import { test } from '@playwright/test';
import fc from 'fast-check';
import { eventStreamReader } from '../../../../../src/cdp/network/page/event-stream.ts';
import { propertyRuns } from '../../../../support/property-runs.ts';

function read(pieces: string[]): unknown[] {
  const seen: unknown[] = [];
  const feed = eventStreamReader({
    onId: (id) => void seen.push({ id }),
    onRetry: (retry) => void seen.push({ retry }),
    onEvent: (type, data) => void seen.push({ type, data }),
  });
  for (const piece of pieces) feed(piece);
  return seen;
}

for (const [title, text, expected] of [
  ['data of several lines', 'data: a\ndata\ndata:  b\n\n', [{ type: 'message', data: 'a\n\n b' }]],
  ['a type, and the default type after it', 'event: x\ndata:1\n\ndata:2\n\n', ['x 1', 'message 2']],
  ['no event without data, but its ID', 'event: x\nid: 7\n\n', [{ id: '7' }]],
  ['no event that the stream does not end', 'data: a\n', []],
  [
    'an ID until it is replaced or emptied',
    'id: 1\n\ndata:a\n\nid\n\n',
    [{ id: '1' }, { id: '1' }, 'message a', { id: '' }],
  ],
  ['no ID with a zero byte, no retry that is not a number', 'id: a\0b\nretry: 1s\nretry: 20\n\n', [{ retry: 20 }]],
  ['neither comments nor unknown fields', ': data: x\ndatum: y\n data: z\n\n', []],
  ['each kind of line end', 'data: a\rdata: b\r\ndata: c\n\r\n', ['message a\nb\nc']],
] as const) {
  test(`reads ${title}`, () => {
    const events = expected.map((each) => {
      if (typeof each !== 'string') return each;
      const [type, ...data] = each.split(' ');
      return { type, data: data.join(' ') };
    });
    deepEqual(read([text]), events);
  });
}

test('reads the same from any pieces of a stream', () => {
  const part = fc.constantFrom(
    'data: a',
    'data',
    'event: x',
    'id: 1',
    'retry: 5',
    ':',
    ' ',
    '\r',
    '\n',
    '\r\n',
    '\n\n',
  );
  fc.assert(
    fc.property(fc.array(part), fc.array(fc.nat(), { maxLength: 9 }), (parts, at) => {
      const text = parts.join('');
      const cuts = [0, ...at.map((n) => n % (text.length + 1)), text.length].sort((a, b) => a - b);
      deepEqual(read(cuts.map((cut, n) => text.slice(cuts[n - 1] ?? 0, cut))), read([text]));
    }),
    propertyRuns(500),
  );
});
