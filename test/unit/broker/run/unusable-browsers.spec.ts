import { expect, test } from '@playwright/test';
import { ProvidedBrowsers } from '../../../../src/providers/provided-browsers.ts';
import type { Provider } from '../../../../src/providers/provider.ts';
import { hosted, leasingOf, planOf } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock, settled } from '../../../support/unit/broker/fake-clock.ts';
import { ScriptedService } from '../../../support/unit/broker/scripted-service.ts';

/** Browsers that were acquired and cannot be used: they stay in the ledger until their end is confirmed. */

const LEASE = { project: 'p0', parallelIndex: 0, needMs: 0, prefetch: false };

/** A port that nothing listens on. */
const NOWHERE = 'http://127.0.0.1:1';

test('releases a browser that cannot be reached until its release resolves, and records it', async () => {
  const clock = new FakeClock();
  const releases: string[] = [];
  const provider: Provider = {
    acquire: async () => ({ id: 'b-1', cdpUrl: NOWHERE }),
    release: async (id, reason) => {
      releases.push(`${id} ${reason}`);
      if (releases.length === 1) throw new Error('not now');
    },
  };
  const provided = new ProvidedBrowsers(provider, 'browsers.ts', () => clock.now());
  const { leases, endAll, ledger, recorder } = leasingOf({ provider: provided, clock, plans: [planOf()], workers: 1 });
  const failed: Error = await leases.lease(LEASE, {}, new AbortController().signal).catch((error) => error);
  expect(failed).toMatchObject({ code: 'CONNECT_FAILED', sessionId: 'b-1' });
  expect(failed.message).not.toMatch(/releas|stopp/);
  await settled();
  expect(ledger.entries).toMatchObject([{ sessionId: 'b-1' }]);
  expect(recorder.sessions).toMatchObject([{ sessionId: 'b-1', endReason: 'connect-failed', endConfirmed: false }]);
  await clock.advance(1_000);
  expect(releases).toEqual(['b-1 connect-failed', 'b-1 connect-failed']);
  expect(ledger.entries).toEqual([]);
  expect(recorder.sessions).toMatchObject([{ sessionId: 'b-1', endConfirmed: true }]);
  await endAll();
});

test('the same for a session of the service without an address', async () => {
  const clock = new FakeClock();
  const service = new ScriptedService(clock);
  service.script.ask.push('unusable');
  service.script.end.push(503);
  const { leases, endAll, ledger, recorder } = leasingOf({
    provider: hosted(service),
    clock,
    plans: [planOf()],
    workers: 1,
  });
  const failed = leases.lease(LEASE, {}, new AbortController().signal).catch((error) => error);
  await clock.advance(100);
  expect(await failed).toMatchObject({ code: 'CONNECT_FAILED' });
  const [session] = service.running;
  expect(ledger.entries).toMatchObject([{ sessionId: session?.sessionId }]);
  await clock.advance(2_000);
  expect(service.running).toEqual([]);
  expect(ledger.entries).toEqual([]);
  expect(recorder.sessions).toMatchObject([{ endReason: 'connect-failed', endConfirmed: true }]);
  const over = endAll();
  await clock.advance(1_000);
  await over;
});

test('without a list, a browser whose `acquire` had no result stays in the ledger, and the end of the run names it', async () => {
  const clock = new FakeClock();
  const said: string[] = [];
  const provider: Provider = { acquire: () => Promise.reject(new Error('reset')), release: async () => undefined };
  const provided = new ProvidedBrowsers(provider, 'browsers.ts', () => clock.now());
  const log = { info() {}, notice() {}, once() {}, momentary() {}, error: (text: string) => void said.push(text) };
  const { leases, endAll, ledger } = leasingOf({ provider: provided, clock, log, plans: [planOf()], workers: 1 });
  const failed = leases.lease(LEASE, {}, new AbortController().signal).catch((error) => error);
  await clock.advance(60_000);
  expect(await failed).toMatchObject({ code: 'SERVICE_FAILED' });
  await endAll();
  expect(ledger.entries).toMatchObject([{ sessionId: null }]);
  expect(said.join()).toContain(`req=${ledger.entries[0]?.request} in its label runs is not known`);
});
