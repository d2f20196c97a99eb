import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base } from '@playwright/test';
import type { BrokerFeature } from '../../../../src/broker/feature.ts';
import { Terminal } from '../../../../src/broker/log/terminal.ts';
import { type BrokerConnection, connectToBroker } from '../../../../src/broker/rpc/client.ts';
import type { HostedProject } from '../../../../src/broker/rpc/messages/protocol.ts';
import type { LeaseService } from '../../../../src/broker/server/lease-service.ts';
import { listen } from '../../../../src/broker/server/server.ts';
import type { RunRecorder } from '../../../../src/record/run-recorder.ts';
import { hosted, leasingOf, planOf } from './broker-parts.ts';
import { FakeClock } from './fake-clock.ts';
import { ScriptedService } from './scripted-service.ts';

/** Parts of a broker behind a real socket, with a scripted service behind them. */

export interface Broker {
  /** Where it listens. */
  address: string;
  clock: FakeClock;
  service: ScriptedService;
  leases: LeaseService;
  recorder: RunRecorder;
  /** Roles of connections that have been silent for too long. */
  hung: string[];
  connect(ownProject?: HostedProject): Promise<BrokerConnection>;
  /** Advances the clock until this call has a response. */
  until<T>(call: Promise<T>): Promise<T>;
}

/** What a test can set. */
interface Options {
  limit: number;
  clock: FakeClock;
  features: BrokerFeature[];
}

export const test = base.extend<Options & { newAddress: string; broker: Broker }>({
  /** Limit of the workspace, which the broker knows. */
  limit: [Number.POSITIVE_INFINITY, { option: true }],
  clock: async ({}, use) => await use(new FakeClock()),
  features: async ({}, use) => await use([]),
  /** An address without a listener yet. */
  newAddress: async ({}, use) => {
    const directory = mkdtempSync(join(tmpdir(), 'poolwright-prefetch-'));
    await use(process.platform === 'win32' ? `\\\\.\\pipe\\prefetch-${process.pid}` : join(directory, 'socket'));
    rmSync(directory, { recursive: true, force: true });
  },
  broker: async ({ limit, clock, features, newAddress: address }, use) => {
    const service = new ScriptedService(clock);
    service.limit = limit;
    const provider = hosted(service);
    const known = Number.isFinite(limit) ? limit : null;
    const plans = [
      planOf({ reuse: 'test' }),
      planOf({ session: { country: 'DE' } }),
      planOf({ session: { country: 'US' } }),
    ];
    const parts = leasingOf({ provider, workers: 2, plans, limit: known, clock });
    const { leases, endAll, recorder } = parts;
    const hung: string[] = [];
    const handlers = {
      leases,
      recorder,
      provider,
      secrets: [],
      say: () => undefined,
      finish: () => Promise.reject(new Error('not here')),
      hangs: (who: string) => void hung.push(who),
    };
    const server = await listen(
      address,
      {
        token: 't',
        observerToken: 'o',
        features,
        terminal: new Terminal(),
        begun: Promise.resolve(handlers),
      },
      clock,
    );
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
    const connect = async (ownProject?: HostedProject) => {
      const line = await connectToBroker({ address, token: 't' }, 'worker', ownProject);
      lines.push(line);
      return line;
    };
    await use({ address, clock, service, leases, recorder, hung, connect, until });
    for (const line of lines) line.close();
    await until(endAll());
    server.close();
  },
});
