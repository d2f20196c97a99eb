import { expect, test } from '@playwright/test';
import { BrowserEnder } from '../../../src/broker/browsers/browser-ender.ts';
import { heldBrowser } from '../../../src/broker/browsers/held-browser.ts';
import { acquireBrowser } from '../../../src/lease/acquire.ts';
import { memoryLedger, planOf, quiet } from '../../support/unit/broker/broker-parts.ts';
import { FakeClock } from '../../support/unit/broker/fake-clock.ts';
import { type Outcome, ScriptedService } from '../../support/unit/broker/scripted-service.ts';

/** A leased browser that is being ended, with the service's answers to the calls that this takes. */
async function end(...answers: Outcome[]) {
  const clock = new FakeClock();
  const service = new ScriptedService(clock);
  const pool = service.addPool('warm');
  const plan = planOf({ pool: pool.id });
  const acquired = acquireBrowser(plan, {
    client: service,
    pool,
    note: 'n',
    signal: new AbortController().signal,
    onWait: () => undefined,
    onDoubt: () => undefined,
    withinLimit: (send) => send(),
    clock,
  });
  await clock.advance(100);
  const asked = { request: 'r-1', plan, slot: { project: '', index: 0 }, askedAt: new Date(clock.now()), shard: null };
  const held = heldBrowser({ browser: await acquired, ...asked });
  const ended: boolean[] = [];
  const ender = new BrowserEnder({
    client: service,
    ledger: memoryLedger(),
    log: quiet,
    ends: new AbortController().signal,
    serviceGone: new AbortController().signal,
    onEnded: (confirmed) => ended.push(confirmed),
    clock,
  });
  service.script.end.push(...answers);
  ender.end(held, 'finished');
  await clock.advance(60_000);
  return { service, held, ended };
}

for (const refusal of [400, 403, 409] as const) {
  test(`a release that is refused with ${refusal}: its session is stopped, and that is its end`, async () => {
    const { service, held, ended } = await end(refusal, 'ok');
    expect(service.running).toEqual([]);
    expect(ended).toEqual([true]);
    expect(held.record).toMatchObject({ endConfirmed: true, endReason: 'finished' });
  });
}

test('a release that is refused is not asked again while the stop is', async () => {
  const { service, held } = await end(409, 503, 503, 'ok');
  expect(service.running).toEqual([]);
  expect(held.record.endConfirmed).toBe(true);
  expect(service.releases).toBe(1);
});

test('an end that is not confirmed frees no slot', async () => {
  const { held, ended } = await end(401, 'ok');
  expect(ended).toEqual([false]);
  expect(held.record.endConfirmed).toBe(false);
});
