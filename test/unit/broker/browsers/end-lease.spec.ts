import { expect, test } from '@playwright/test';
import { BrowserRequest } from '../../../../src/broker/acquire/requests/browser-request.ts';
import { heldBrowser } from '../../../../src/broker/browsers/held-browser.ts';
import { BrowserEnder } from '../../../../src/broker/leases/browser-ender.ts';
import { hosted, memoryLedger, noAccount, planOf, quiet, run } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock } from '../../../support/unit/broker/fake-clock.ts';
import { type Outcome, ScriptedService } from '../../../support/unit/broker/scripted-service.ts';

/** Ends a leased browser, with the service's responses to the calls that this takes. */
async function end(...answers: Outcome[]) {
  const clock = new FakeClock();
  const service = new ScriptedService(clock);
  const provider = hosted(service);
  const plan = planOf({ pool: service.addPool('warm').id });
  const found = provider.pools.ofRun(run, memoryLedger(), 1, false).resolve(plan);
  await clock.advance(100);
  const request = new BrowserRequest({
    provider,
    plan,
    pool: await found,
    project: '',
    needMs: () => 0,
    note: 'n',
    signal: new AbortController().signal,
    closes: new AbortController().signal,
    account: noAccount(),
    clock,
    random: Math.random,
  });
  const acquired = request.send();
  await clock.advance(100);
  const slot = { project: '', index: 0 };
  const asked = { request: 'r-1', entry: 'r-1', plan, slot, askedAt: new Date(clock.now()), shard: null };
  const held = heldBrowser({ browser: await acquired, ...asked });
  const ended: boolean[] = [];
  const settled: string[] = [];
  const ledger = memoryLedger();
  ledger.settled = (request) => void settled.push(request);
  const ender = new BrowserEnder({
    provider,
    ledger,
    log: quiet,
    ends: new AbortController().signal,
    serviceGone: new AbortController().signal,
    onEnded: (confirmed) => ended.push(confirmed),
    clock,
  });
  service.script.end.push(...answers);
  ender.end(held, 'finished');
  await clock.advance(60_000);
  return { service, held, ended, settled };
}

for (const refusal of [400, 403, 409] as const) {
  test(`when a release is refused with ${refusal}, stops the session and counts it as ended`, async () => {
    const { service, held, ended, settled } = await end(refusal, 'ok');
    expect(service.running).toEqual([]);
    expect(ended).toEqual([true]);
    expect(settled).toEqual(['r-1']);
    expect(held.record).toMatchObject({ endConfirmed: true, endReason: 'finished' });
  });
}

test('does not retry a refused release while it retries the stop', async () => {
  const { service, held } = await end(409, 503, 503, 'ok');
  expect(service.running).toEqual([]);
  expect(held.record.endConfirmed).toBe(true);
  expect(service.releases).toBe(1);
});

test('an unconfirmed end frees no slot, and stays in the ledger', async () => {
  const { held, ended, settled } = await end(401, 'ok');
  expect(ended).toEqual([false]);
  expect(settled).toEqual([]);
  expect(held.record.endConfirmed).toBe(false);
});
