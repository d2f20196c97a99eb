import { deepEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import fc from 'fast-check';
import { LineSocket } from '../../../../src/broker/rpc/line-socket.ts';
import { OpenRequests } from '../../../../src/broker/rpc/open-requests.ts';
import { LeaseError } from '../../../../src/errors.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { failureOf } from '../../../support/unit/http-service.ts';

/** Messages over real sockets, whatever chunks their bytes arrive in. */

const test = base.extend<{ pair(): Promise<[Socket, Socket]> }>({
  pair: async ({}, use) => {
    const directory = mkdtempSync(join(tmpdir(), 'lines-test-'));
    const path = process.platform === 'win32' ? `\\\\.\\pipe\\lines-${process.pid}` : join(directory, 'socket');
    const server: Server = createServer().listen(path);
    await once(server, 'listening');
    const sockets: Socket[] = [];
    await use(async () => {
      const near = connect(path);
      const [[far]] = (await Promise.all([once(server, 'connection'), once(near, 'connect')])) as [[Socket], unknown];
      for (const socket of [near, far]) socket.on('error', () => undefined);
      sockets.push(near, far);
      return [near, far];
    });
    for (const socket of sockets) socket.destroy();
    server.close();
    rmSync(directory, { recursive: true, force: true });
  },
});

const MAX = 2_000;

test('messages arrive complete and in order, whatever chunks their bytes arrive in', async ({ pair }) => {
  const message = fc.record({ text: fc.string({ unit: 'grapheme', maxLength: 50 }), more: fc.jsonValue() });
  const property = fc.asyncProperty(
    fc.array(message, { minLength: 1, maxLength: 8 }),
    fc.array(fc.nat(400), { maxLength: 10 }),
    async (messages, cuts) => {
      const [near, far] = await pair();
      const seen: object[] = [];
      new LineSocket(far, { onMessage: (one) => void seen.push(one), maxLength: 1_000_000 });
      const bytes = Buffer.from(messages.map((each) => `${JSON.stringify(each)}\n`).join(''));
      let at = 0;
      for (const size of [...cuts, bytes.length]) {
        near.write(bytes.subarray(at, at + size));
        at = Math.min(bytes.length, at + size);
        await new Promise((resolve) => setImmediate(resolve));
      }
      near.end();
      await once(far, 'close');
      deepEqual(seen, JSON.parse(JSON.stringify(messages)));
    },
  );
  await fc.assert(property, propertyRuns(100));
});

for (const [what, bytes] of [
  ['invalid JSON', '{"id":1}\n{"id":\n{"id":2}\n'],
  ['a number', '{"id":1}\n7\n{"id":2}\n'],
  ['null', '{"id":1}\nnull\n{"id":2}\n'],
  ['a line that is too long', `{"id":1}\n"${'x'.repeat(MAX)}"\n{"id":2}\n`],
  ['a line without an end', `{"id":1}\n${'x'.repeat(MAX + 1)}`],
] as const) {
  test(`closes the connection on ${what}, and ignores everything after it`, async ({ pair }) => {
    const [near, far] = await pair();
    const seen: object[] = [];
    new LineSocket(far, { onMessage: (one) => void seen.push(one), maxLength: MAX });
    near.write(bytes);
    await once(near, 'close');
    expect(seen).toEqual([{ id: 1 }]);
  });
}

test('each request gets its own response, in any order; requests without one fail with the connection', async ({
  pair,
}) => {
  const [near, far] = await pair();
  const requests = new OpenRequests(near);
  const asked: { id: number; params: { n: number } }[] = [];
  const all = new Promise<void>((resolve) => {
    const onMessage = (one: object) => {
      asked.push(one as (typeof asked)[number]);
      if (asked.length === 5) resolve();
    };
    new LineSocket(far, { onMessage, maxLength: MAX });
  });
  const ask = (n: number) => requests.ask('say', { n });
  const answers = [ask(0), ask(1), ask(2), ask(3), ask(4)] as const;
  await all;
  const error = { message: 'no', code: 'ABORTED', details: { lease: {} } };
  for (const { id, params } of [...asked].reverse()) {
    if (params.n === 1) far.write(`${JSON.stringify({ id, error })}\n`);
    else if (params.n !== 3) far.write(`${JSON.stringify({ id, result: params.n * 10 })}\n`);
  }
  far.write('{"id":99,"result":"of nothing that was asked"}\n');
  expect(await Promise.all([answers[0], answers[2], answers[4]])).toEqual([0, 20, 40]);
  expect(await failureOf(answers[1], LeaseError)).toMatchObject({ code: 'ABORTED', message: 'no' });
  far.destroy();
  expect(await failureOf(answers[3], LeaseError)).toMatchObject({ code: 'BROKER_LOST' });
  expect(await failureOf(requests.ask('say', {}), LeaseError)).toMatchObject({ code: 'BROKER_LOST' });
});
