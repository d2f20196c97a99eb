import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect } from '@playwright/test';
import { connectToBroker } from '../../../../src/broker/rpc/client.ts';
import { OpenRequests } from '../../../../src/broker/rpc/open-requests.ts';
import { RUNNER_SILENT_MS } from '../../../../src/broker/rpc/silence.ts';
import { LeaseError } from '../../../../src/errors.ts';
import { FakeClock } from '../../../support/unit/broker/fake-clock.ts';
import { test } from '../../../support/unit/broker/socket-broker.ts';
import { failureOf } from '../../../support/unit/http-service.ts';

/** A side that hangs closes no connection: it counts as dead when it has been silent for longer than allowed. */

const lease = { project: 'p0', parallelIndex: 0, needMs: 1_000 };

test('requests to a broker that hangs fail after 15 s, and the connection closes', async ({ newAddress }) => {
  const sockets: Socket[] = [];
  // Accepts connections, as the kernel does for a stopped process, and never responds.
  const server = createServer((socket) => sockets.push(socket)).listen(newAddress);
  await once(server, 'listening');
  const near = connect(newAddress);
  await once(near, 'connect');
  const clock = new FakeClock();
  const requests = new OpenRequests(near, clock);
  // Without a request, silence is allowed.
  await clock.advance(60_000);
  const asked = failureOf(requests.ask('lease', {}), LeaseError);
  await clock.advance(14_000);
  expect(near.destroyed).toBe(false);
  await clock.advance(1_000);
  expect(await requests.closed).toBe(true);
  const failure = await asked;
  expect(failure.code).toBe('BROKER_LOST');
  expect(failure.message).toContain('it has not responded for 15 s');
  for (const socket of sockets) socket.destroy();
  server.close();
});

test('a worker that hangs loses its browser when its allowed silence is over, and not before', async ({ broker }) => {
  const { clock, connect, hung, recorder, until } = broker;
  const line = await connect();
  await until(line.lease(lease));
  line.allowSilence(60_000);
  await line.say({ text: 'its bound has arrived' });
  await clock.advance(59_000);
  expect(recorder.sessions[0]).toMatchObject({ endReason: null });
  await clock.advance(2_000);
  await line.closed;
  await expect.poll(() => recorder.sessions[0]?.endReason).toBe('worker-died');
  expect(hung).toEqual(['worker']);
});

test('a worker that sends signs of life keeps its browser, however long its test takes', async ({ broker }) => {
  const { clock, connect, hung, recorder, until } = broker;
  const line = await connect();
  await until(line.lease(lease));
  line.allowSilence(60_000);
  for (let minute = 0; minute < 10; minute += 1) {
    await line.say({ text: 'a sign of life' });
    await clock.advance(55_000);
  }
  expect(hung).toEqual([]);
  expect(recorder.sessions[0]).toMatchObject({ endReason: null });
});

test('a runner that hangs for ten minutes counts as dead; other connections of its process never do', async ({
  broker,
}) => {
  const { address, clock, hung } = broker;
  const runner = await connectToBroker({ address, token: 't' }, 'control');
  const other = await connectToBroker({ address, token: 't' }, 'control');
  runner.allowSilence(RUNNER_SILENT_MS);
  await runner.remaining({ projects: [] });
  await clock.advance(RUNNER_SILENT_MS - 1_000);
  expect(hung).toEqual([]);
  await clock.advance(2_000);
  expect(hung).toEqual(['control']);
  runner.close();
  other.close();
});
