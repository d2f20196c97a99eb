import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from '@playwright/test';
import { LeaseRegistry } from '../../../src/broker/leasing/lease-registry.ts';
import { Terminal } from '../../../src/broker/process/terminal.ts';
import { type BrokerConnection, connectToBroker } from '../../../src/broker/rpc/client.ts';
import { listen } from '../../../src/broker/rpc/server.ts';
import { LeaseError } from '../../../src/errors.ts';
import type { LeasePlan } from '../../../src/options/lease-plan.ts';
import type { RunRecorder } from '../../../src/record/run-recorder.ts';
import { ServiceClient } from '../../../src/service/index.ts';
import { failureOf } from '../service/harness.ts';
import { memoryLedger, memoryRecorder, planOf, quiet, run } from './broker-parts.ts';
import { FakeClock } from './fake-clock.ts';
import { ScriptedService } from './scripted-service.ts';

/** Prefetches over a real socket, with a scripted service behind the broker. */

interface Broker {
  clock: FakeClock;
  service: ScriptedService;
  registry: LeaseRegistry;
  recorder: RunRecorder;
  connect(): Promise<BrokerConnection>;
  /** Time goes on until this is answered. */
  until<T>(call: Promise<T>): Promise<T>;
}

const test = base.extend<{ broker: Broker }>({
  broker: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'poolwright-ahead-'));
    const address = process.platform === 'win32' ? `\\\\.\\pipe\\ahead-${process.pid}` : join(folder, 'socket');
    const clock = new FakeClock();
    const service = new ScriptedService(clock);
    const recorder = memoryRecorder();
    const registry = new LeaseRegistry({
      client: service,
      run,
      workers: 2,
      projects: [],
      ledger: memoryLedger(),
      log: quiet,
      trouble: () => null,
      recorder,
      clock,
    });
    const client = new ServiceClient({ baseURL: 'http://127.0.0.1:9', apiKey: 'not-used' });
    const server = await listen(address, {
      registry,
      recorder,
      client,
      token: 't',
      secrets: [],
      terminal: new Terminal(),
      say: () => undefined,
      finish: () => Promise.reject(new Error('not here')),
      recorded: () => undefined,
    });
    const lines: BrokerConnection[] = [];
    const until = async <T>(call: Promise<T>): Promise<T> => {
      let over = false;
      const done = () => {
        over = true;
      };
      call.then(done, done);
      for (let turn = 0; !over && turn < 20_000; turn += 1) await clock.advance(1);
      return await call;
    };
    const connect = async () => {
      const line = await connectToBroker({ address, token: 't' }, 'worker');
      lines.push(line);
      return line;
    };
    await use({ clock, service, registry, recorder, connect, until });
    for (const line of lines) line.close();
    await until(registry.endAll());
    server.close();
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  },
});

const plan: LeasePlan = planOf({ reuse: 'test' });
const params = { plan, project: '', workerIndex: 0, parallelIndex: 0, needMs: 1_000 };

test('at the limit a prefetch waits behind who needs a browser, is taken back, and is no failure of the run', async ({
  broker,
}) => {
  const { service, registry, recorder, connect, until } = broker;
  service.limit = 1;
  registry.gate.limit = 1;
  const [a, b] = [await connect(), await connect()];
  const first = await until(a.lease(params));
  const ahead = failureOf(a.lease({ ...params, ahead: true }), LeaseError);
  await expect.poll(() => registry.state.waiting + service.asks).toBe(1);
  const other = b.lease({ ...params, parallelIndex: 1 });
  await expect.poll(() => registry.state.waiting).toBe(1);
  await until(a.giveBack({ sessionId: first.sessionId, condition: 'healthy', toBeReplaced: false }));
  const second = await until(other);
  expect(second.sessionId).not.toBe(first.sessionId);
  await until(a.cancelAhead());
  expect(await ahead).toMatchObject({ code: 'ABORTED' });
  expect(recorder.leaseFailures).toEqual([]);
});

test('the prefetch that is taken back hands what is on its way to the request behind it', async ({ broker }) => {
  const { service, connect, until } = broker;
  service.latency = 500;
  const line = await connect();
  const ahead = failureOf(line.lease({ ...params, ahead: true }), LeaseError);
  await expect.poll(() => service.asks).toBe(1);
  const now = line.lease(params);
  await until(line.cancelAhead());
  expect(await ahead).toMatchObject({ code: 'ABORTED' });
  expect((await until(now)).reused).toBe(false);
  await broker.clock.advance(20_000);
  expect(service.running).toHaveLength(1);
});

test('one whose answer crosses the cancel is given back unused, and is as good as new', async ({ broker }) => {
  const { registry, recorder, service, connect, until } = broker;
  const [a, b] = [await connect(), await connect()];
  const lease = registry.lease.bind(registry);
  let cancelled: Promise<void> | null = null;
  // The worker takes its request back when the broker has lent the browser, and before it has read that.
  registry.lease = async (...asked) => {
    const lent = await lease(...asked);
    cancelled ??= a.cancelAhead();
    return lent;
  };
  const failure = await until(failureOf(a.lease({ ...params, ahead: true }), LeaseError));
  await until(Promise.resolve(cancelled));
  expect(failure).toMatchObject({ code: 'ABORTED' });
  expect(service.asks).toBe(1);
  const taken = await until(b.lease({ ...params, parallelIndex: 1 }));
  expect(taken.reused).toBe(false);
  expect(recorder.sessions).toHaveLength(1);
  expect(recorder.sessions[0]).toMatchObject({ workersServed: 1, sessionId: taken.sessionId });
});
