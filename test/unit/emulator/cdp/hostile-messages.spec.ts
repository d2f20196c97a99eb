import { deepEqual, equal, ok } from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { test } from '@playwright/test';
import fc from 'fast-check';
import { CdpClients } from '../../../../src/emulator/cdp/cdp-clients.ts';
import { CdpPipe } from '../../../../src/emulator/cdp/cdp-pipe.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

/** A command as Chromium reads it from the pipe. */
interface PipeCommand {
  id: number;
  method: string;
  params?: object;
  sessionId?: string;
}

/** Chromium's end of the pipe: a zero byte ends a message, and every session is known to the whole pipe. */
class ChromiumEnd {
  readonly input = new PassThrough();
  readonly output = new PassThrough();
  /** Commands that clients' messages have become. */
  readonly fromClients: PipeCommand[] = [];
  #roots = 0;

  constructor() {
    let rest = '';
    this.input.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split('\0');
      rest = parts.pop() ?? '';
      // As a process does: later.
      queueMicrotask(() => {
        for (const part of parts) this.#handle(JSON.parse(part));
      });
    });
  }

  event(method: string, params: object, sessionId: string): void {
    this.#write({ method, params, sessionId });
  }

  #handle(command: PipeCommand): void {
    const { id, method, sessionId } = command;
    if (sessionId === undefined && method === 'Target.attachToBrowserTarget') {
      this.#roots += 1;
      this.#write({ id, result: { sessionId: `ROOT${this.#roots}` } });
      return;
    }
    this.fromClients.push(command);
    this.#write({ id, result: { method }, sessionId });
  }

  #write(message: object): void {
    this.output.write(`${JSON.stringify(message)}\0`);
  }
}

/** A client that sends bytes as they are. */
async function join(clients: CdpClients, chromium: ChromiumEnd, child: string) {
  const received: { id?: number; method?: string; error?: object }[] = [];
  const seat = await clients.reserve();
  const nothing = () => undefined;
  const send = (message: Buffer | string) => void received.push(JSON.parse(message.toString()));
  const end = seat.take({ send, end: nothing, pause: nothing, resume: nothing });
  return {
    received,
    receive: (message: Buffer) => end.receive(message),
    attach: (root: string) => chromium.event('Target.attachedToTarget', { sessionId: child }, root),
  };
}

const sessions = fc.constantFrom('ROOT1', 'ROOT2', 'CHILD1', 'CHILD2', '', 'none', 7, null);
const command = fc
  .record(
    {
      id: fc.oneof(fc.constantFrom(0, 1, 2, 3), fc.constantFrom(1.5, 2 ** 31, '1', null)),
      method: fc.constantFrom('Browser.close', 'Target.getTargets', '', 5),
      params: fc.oneof(fc.jsonValue(), fc.constant({ sessionId: 'CHILD1' })),
      sessionId: sessions,
      other: fc.constant(1),
    },
    { requiredKeys: ['id', 'method'] },
  )
  .map((value) => JSON.stringify(value));
const LONG = 'x'.repeat(20_000);
const close = '{"id":9,"method":"Browser.close"}';
const hostile = fc.oneof(
  command,
  // Several messages in one, by what may end one.
  fc.tuple(command, fc.constantFrom('\0', '\n', '//', '/*', ' ', ''), command).map((parts) => parts.join('')),
  // A session at the end that a parser does not see there, or sees twice.
  fc.constantFrom('\0', '//', '/*', ' ', '\ufeff').map((mark) => `${close}${mark},"sessionId":"CHILD2"}`),
  fc.tuple(sessions, sessions).map((ids) => {
    const [one, two] = ids.map((value) => JSON.stringify(value));
    return `{"id":9,"sessionId":${one},"method":"Browser.close","params":{},"sessionId":${two}}`;
  }),
  fc.constantFrom(299, 301, 5_000, 200_000).map((depth) => {
    return `{"id":9,"method":"Browser.close","params":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
  }),
  // So long that its parameters are passed on as they are.
  fc
    .constantFrom('', ',"sessionId":"CHILD1"', '},"params":{', `}\0${close}`, '},"sessionId":"CHILD1","params":{}', '}')
    .map((mark) => `{"id":9,"method":"Browser.close","params":{"a":"${LONG}"${mark}},"sessionId":"CHILD2"}`),
  fc.string({ unit: 'binary' }),
  fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('latin1')),
);

test('a hostile message becomes at most one command, in a session of its client', async () => {
  const run = async (messages: string[]) => {
    const chromium = new ChromiumEnd();
    const clients = new CdpClients(new CdpPipe(chromium.input, chromium.output));
    const victim = await join(clients, chromium, 'CHILD1');
    const attacker = await join(clients, chromium, 'CHILD2');
    victim.attach('ROOT1');
    attacker.attach('ROOT2');
    await setImmediate();
    for (const message of messages) {
      const [before, responses] = [chromium.fromClients.length, attacker.received.length];
      victim.receive(Buffer.from('{"id":1,"method":"Victim.command","sessionId":"CHILD1"}'));
      attacker.receive(Buffer.from(message));
      await setImmediate();
      const [own, ...caused] = chromium.fromClients.slice(before);
      equal(own?.method, 'Victim.command');
      ok(caused.length <= 1, `${caused.length} commands`);
      for (const { sessionId } of caused) ok(sessionId === 'ROOT2' || sessionId === 'CHILD2', `in ${sessionId}`);
      equal(attacker.received.length, responses + 1, 'responses');
    }
    const [, ...responses] = victim.received;
    const response = { id: 1, result: { method: 'Victim.command' }, sessionId: 'CHILD1' };
    deepEqual(responses, Array(messages.length).fill(response));
  };
  await fc.assert(fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 5 }), run), propertyRuns(1_000, 300));
});

test('the parameters of a command reach Chromium as they are, however long', async () => {
  const run = async (params: object, length: number) => {
    const chromium = new ChromiumEnd();
    const clients = new CdpClients(new CdpPipe(chromium.input, chromium.output));
    const client = await join(clients, chromium, 'CHILD1');
    client.attach('ROOT1');
    await setImmediate();
    const sent = {
      id: 7,
      method: 'Runtime.evaluate',
      params: { ...params, expression: 'ä"\\'.repeat(length) },
      sessionId: 'CHILD1',
    };
    client.receive(Buffer.from(JSON.stringify(sent)));
    await setImmediate();
    const [command] = chromium.fromClients;
    deepEqual({ ...command, id: 7 }, JSON.parse(JSON.stringify(sent)));
    deepEqual(client.received.at(-1), { id: 7, result: { method: sent.method }, sessionId: 'CHILD1' });
  };
  const params = fc.dictionary(fc.oneof(fc.constantFrom('id', 'sessionId', 'params'), fc.string()), fc.jsonValue());
  const length = fc.constantFrom(0, 1, 5_000, 60_000);
  await fc.assert(fc.asyncProperty(params, length, run), propertyRuns(200, 60));
});
