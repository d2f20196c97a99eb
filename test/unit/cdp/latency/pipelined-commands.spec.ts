import { deepEqual } from 'node:assert/strict';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { Savings } from '../../../../src/cdp/figures.ts';
import { PipelinedCommands } from '../../../../src/cdp/latency/pipelined-commands.ts';
import { type CdpMessage, fieldsOf } from '../../../../src/cdp/message.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { aLink, CRASHED, turn } from '../../../support/unit/cdp/a-link.ts';

const object = (objectId: string) => ({ result: { objectId } });

/** A component that sends the given commands early, between a client and a browser that responds on demand. */
function between() {
  const toBrowser: CdpMessage[] = [];
  const toClient: CdpMessage[] = [];
  /** Objects that are released because the client does not get them. */
  const unused: unknown[] = [];
  let ahead: PipelinedCommands | undefined;
  const list = new InterceptorList(
    [
      (link) => {
        const sent = new PipelinedCommands(link, new Savings(0, () => 0), {
          isUsable: ({ result }) => result !== 'bad',
        });
        ahead = sent;
        return {
          onCommand: (command) => (sent.ask(String(command.method), command) ? null : command),
          onMessage: (message) => sent.onMessage(message),
        };
      },
    ],
    {
      toBrowser: (command) => {
        if (command.method === 'Runtime.releaseObject')
          unused.push(fieldsOf<{ objectId: string }>(command.params).objectId);
        else toBrowser.push(command);
      },
      toClient: (message) => toClient.push(message),
    },
  );
  for (const sessionId of ['one', 'two']) {
    list.message({ method: 'Target.attachedToTarget', params: { sessionId, targetInfo: { targetId: sessionId } } });
  }
  toClient.splice(0);
  if (!ahead) throw new Error('it was not made');
  const answer = (result: unknown) => {
    const { id, sessionId } = toBrowser.shift() ?? {};
    const of = sessionId === undefined ? {} : { sessionId };
    list.message(result === 'error' ? { ...of, id, error: { message: 'no' } } : { ...of, id, result });
  };
  return { toBrowser, toClient, unused, list, sent: ahead, answer };
}

test('keeps a response until the client sends exactly that command', async () => {
  const { list, sent, answer, toClient, toBrowser } = between();
  sent.send('A', { method: 'A' });
  answer('one');
  list.command({ id: 1, method: 'B' });
  expect(toBrowser.splice(0).map(({ id }) => id)).toEqual([1]);
  list.command({ id: 2, method: 'A' });
  list.command({ id: 3, method: 'A' });
  await turn();
  expect(toClient).toEqual([{ id: 2, result: 'one' }]);
  expect(toBrowser.map(({ id }) => id)).toEqual([3]);
});

test('delivers a pending response when it arrives, in its place', () => {
  const { list, sent, answer, toClient } = between();
  sent.send('A', { method: 'A' });
  list.command({ id: 1, method: 'A' });
  list.message({ method: 'before' });
  answer('one');
  list.message({ method: 'behind' });
  expect(toClient).toEqual([{ method: 'before' }, { id: 1, result: 'one' }, { method: 'behind' }]);
});

for (const result of ['error', 'bad']) {
  test(`does not use an error, but sends the client's command: ${result}`, () => {
    const { list, sent, answer, toClient, toBrowser } = between();
    sent.send('A', { method: 'A' });
    list.command({ id: 1, method: 'A', params: { of: 'the client' } });
    answer(result);
    expect(toClient).toEqual([]);
    expect(toBrowser.map(({ method, params }) => [method, params])).toEqual([['A', { of: 'the client' }]]);
    answer('two');
    expect(toClient).toEqual([{ id: 1, result: 'two' }]);
  });
}

test('drops unused responses: before and after they arrive, and the oldest of too many', () => {
  const { sent, answer, unused, toClient, toBrowser } = between();
  sent.send('A', { method: 'A', sessionId: 'one' });
  answer(object('first'));
  sent.send('B', { method: 'B', sessionId: 'one' });
  sent.send('C', { method: 'C', sessionId: 'two' });
  sent.drop((sessionId) => sessionId === 'one');
  answer(object('second'));
  expect(unused).toEqual(['first', 'second']);
  expect([sent.has('A'), sent.has('B'), sent.has('C')]).toEqual([false, false, true]);
  for (let number = 0; number < 500; number += 1) sent.send(`many ${number}`, { method: 'many' });
  expect(sent.has('C')).toBe(false);
  expect(sent.has('many 499')).toBe(true);
  toBrowser.splice(0);
  expect(toClient).toEqual([]);
});

test('gives the client each response once, and only to its commands, in any order', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('send' as const), what: fc.constantFrom('A', 'B') }),
    fc.record({ do: fc.constant('ask' as const), what: fc.constantFrom('A', 'B') }),
    fc.record({ do: fc.constant('answer' as const), how: fc.constantFrom('right', 'bad', 'error') }),
    fc.record({ do: fc.constant('drop' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { list, sent, toBrowser, toClient } = between();
      const asked: string[] = [];
      const reply = (how: string) => {
        const { id, method } = toBrowser.shift() ?? {};
        if (id === undefined) return;
        const result = how === 'right' || id > 0 ? `${method} is done` : 'bad';
        list.message(how === 'error' && id < 0 ? { id, error: { message: 'no' } } : { id, result });
      };
      for (const one of steps) {
        if (one.do === 'send') sent.send(one.what, { method: one.what });
        else if (one.do === 'ask') list.command({ id: asked.push(one.what), method: one.what });
        else if (one.do === 'answer') reply(one.how);
        else sent.drop();
      }
      while (toBrowser.length > 0) reply('right');
      await turn();
      const got = toClient.map(({ id, result }) => [id, result]).sort(([one], [other]) => Number(one) - Number(other));
      deepEqual(
        got,
        asked.map((what, index) => [index + 1, `${what} is done`]),
      );
    }),
    propertyRuns(300),
  );
});

test('ends commands sent in advance when the page crashes, and sends no more', async () => {
  let sent: PipelinedCommands | undefined;
  const { list, attach, crash, responses, toBrowser } = aLink((link) => {
    const pipelined = new PipelinedCommands(link, new Savings());
    sent = pipelined;
    return {
      onCommand: (command) => (pipelined.ask('key', command) ? null : command),
      onMessage: (message) => pipelined.onMessage(message),
    };
  });
  attach('page', 'T');
  sent?.send('key', { method: 'Runtime.evaluate', sessionId: 'page' });
  list.command({ id: 1, method: 'Runtime.evaluate', sessionId: 'page' });
  await crash('page');
  expect(responses()).toEqual([{ id: 1, sessionId: 'page', error: CRASHED }]);
  expect(toBrowser.map(({ method }) => method)).toEqual(['Runtime.evaluate', 'Browser.getVersion']);
});
