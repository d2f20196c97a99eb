import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from '@playwright/test';
import { Terminal } from '../../../../src/broker/log/terminal.ts';
import { connectToBroker } from '../../../../src/broker/rpc/client.ts';
import { PROTOCOL_VERSION } from '../../../../src/broker/rpc/line-socket.ts';
import { type BrokerHandlers, listen } from '../../../../src/broker/server/server.ts';
import { LeaseError } from '../../../../src/errors.ts';
import { planOf } from '../../../support/unit/broker/broker-parts.ts';
import { test } from '../../../support/unit/broker/socket-broker.ts';

/** How the broker's server handles clients that do not follow its protocol. */

test.describe('a foreign connection', () => {
  const hello = (more: object) => ({
    id: 1,
    method: 'hello',
    params: { token: 't', version: PROTOCOL_VERSION, role: 'worker', ...more },
  });

  for (const [name, line] of [
    ['a wrong token', JSON.stringify(hello({ token: 'guessed' }))],
    ['an invalid request', '{"method":"hello"}'],
  ]) {
    test(`with ${name} is closed at once, before a silent one that was there first`, async ({ broker }) => {
      const silent = connect(broker.address).setEncoding('utf8');
      await once(silent, 'connect');
      const socket = connect(broker.address);
      socket.write(`${line}\n`);
      await once(socket.resume(), 'close');
      // The server's timeout for silent connections would have closed this one first.
      const said = once(silent, 'data');
      const closed = once(silent, 'close').then(() => ['closed']);
      silent.write(`${JSON.stringify(hello({}))}\n`);
      expect(await Promise.race([said, closed])).toEqual(['{"id":1,"result":{"slot":0}}\n']);
      silent.destroy();
    });
  }

  test('of another version gets an error, and so does an unknown request or one for another role', async ({
    broker,
  }) => {
    const socket = connect(broker.address).setEncoding('utf8');
    const said = async (message: object): Promise<string> => {
      socket.write(`${JSON.stringify(message)}\n`);
      const [text] = await once(socket, 'data');
      return text;
    };
    expect(await said(hello({ version: 99 }))).toContain('different versions of poolwright');
    expect(await said({ id: 2, method: 'lease', params: {} })).toContain('is for a worker only');
    expect(await said(hello({}))).toBe('{"id":1,"result":{"slot":0}}\n');
    expect(await said({ id: 3, method: 'toString', params: {} })).toContain('is not a request');
    expect(await said({ id: 4, method: 'finish', params: {} })).toContain('is for a control only');
    expect(await said({ id: 5, method: 'lease', params: { project: 7 } })).toContain('"error"');
    socket.destroy();
  });
});

test('a run that cannot begin: requests for a browser wait for the end of the run, all others get a response', async ({
  newAddress: address,
}) => {
  let beginNot: (why: LeaseError) => void = () => undefined;
  const begun = new Promise<never>((_, reject) => {
    beginNot = reject;
  });
  const server = await listen(address, {
    token: 't',
    observerToken: 'o',
    features: [],
    terminal: new Terminal(),
    begun,
  });
  const worker = await connectToBroker({ address, token: 't' }, 'worker');
  let leased = 'waits';
  const lease = () => worker.lease({ project: 'a', parallelIndex: 0, needMs: 1_000, prefetch: false });
  const before = lease().finally(() => {
    leased = 'is answered';
  });
  const said = worker.say({ text: 'a word' });
  beginNot(new LeaseError('BROKER_FAILED', 'cannot lease browsers'));
  await expect(said).rejects.toMatchObject({ code: 'BROKER_FAILED', message: 'cannot lease browsers' });
  const after = lease().finally(() => {
    leased = 'is answered';
  });
  await expect(worker.cancelPrefetch()).rejects.toMatchObject({ code: 'BROKER_FAILED' });
  expect(leased).toBe('waits');
  worker.close();
  for (const each of [before, after]) await expect(each).rejects.toMatchObject({ code: 'BROKER_LOST' });
  server.close();
});

test("knows a worker's own project when it serves its request, also if both came before the run began", async ({
  newAddress: address,
}) => {
  const calls: string[] = [];
  const leases = {
    register: () => calls.push('register'),
    lease: async () => {
      calls.push('lease');
      throw new LeaseError('ABORTED', 'enough is known');
    },
    holderGone: () => undefined,
  };
  let begin: (run: BrokerHandlers) => void = () => undefined;
  const begun = new Promise<BrokerHandlers>((resolve) => {
    begin = resolve;
  });
  const terminal = new Terminal();
  const server = await listen(address, { token: 't', observerToken: 'o', features: [], terminal, begun });
  const worker = await connectToBroker({ address, token: 't' }, 'worker', { id: 'own', name: '', plan: planOf() });
  const lease = worker.lease({ project: 'own', parallelIndex: 0, needMs: 0, prefetch: false });
  lease.catch(() => undefined);
  await worker.ask('ping', { silentMs: null }); // the server has both requests
  begin({ leases, secrets: [] } as unknown as BrokerHandlers);
  await expect(lease).rejects.toMatchObject({ code: 'ABORTED' });
  expect(calls).toEqual(['register', 'lease']);
  worker.close();
  server.close();
});
