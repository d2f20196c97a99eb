import { expect, test } from '@playwright/test';
import { BrowserQueue } from '../../../../src/broker/acquire/browser-queue.ts';
import { type HeldBrowser, HeldBrowsers, leaseTo, markEnding } from '../../../../src/broker/browsers/held-browser.ts';
import { LeaseService } from '../../../../src/broker/server/lease-service.ts';
import type { LeasePlan } from '../../../../src/options/schema/plan.ts';
import { memoryRecorder, planOf } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock, settled } from '../../../support/unit/broker/fake-clock.ts';
import { freshBrowser } from '../../../support/unit/broker/held-parts.ts';

/** How the broker handles a returned browser, by its condition and its plan. */

const SLOT = { project: 'p', index: 0 };
const HEALTHY = { condition: 'healthy', toBeReplaced: false } as const;

/** A browser that a worker holds, with ends that the test controls: by default they never complete. */
function leased(plan: LeasePlan) {
  const clock = new FakeClock();
  const closing = new AbortController();
  const browsers = new HeldBrowsers();
  const confirmed: (() => void)[] = [];
  const ender = {
    end(held: HeldBrowser, reason: Parameters<typeof markEnding>[1]) {
      markEnding(held, reason, clock.now());
      held.ended = new Promise((resolve) => confirmed.push(resolve));
    },
  };
  const never = () => {
    throw new Error('nothing is ordered here');
  };
  const recorder = memoryRecorder();
  const queue = new BrowserQueue({
    orders: { order: never },
    ender,
    notices: { add: never },
    closing: closing.signal,
    clock,
  });
  const returns = new LeaseService({
    projects: [],
    browsers,
    queue,
    notes: { writeIfMoved: never },
    recorder,
    closing: closing.signal,
    clock,
  });
  const worker = {};
  const held = freshBrowser(clock, 's', { plan });
  browsers.add(held);
  leaseTo(held, worker, SLOT, 0, clock.now());
  return { clock, closing, returns, worker, held, confirmed };
}

const give = { sessionId: 's', ...HEALTHY };

for (const [condition, reason] of [
  ['rolled-over', 'rolled-over'],
  ['lost', 'lost'],
  ['unreachable', 'connect-failed'],
] as const) {
  test(`${condition}: ends the browser as ${reason}`, async () => {
    const { returns, worker, held } = leased(planOf());
    await returns.giveBack({ ...give, condition }, worker);
    expect(held).toMatchObject({ state: 'ending', holder: null, record: { endReason: reason } });
  });
}

test('healthy: keeps the browser for the next worker, and ends it when none comes', async () => {
  const { returns, worker, held, clock } = leased(planOf({ reuse: 'run' }));
  await returns.giveBack(give, worker);
  expect(held).toMatchObject({ state: 'idle', holder: null });
  await clock.advance(60_000);
  expect(held).toMatchObject({ state: 'ending', record: { endReason: 'idle' } });
});

for (const reuse of ['worker', 'test'] as const) {
  test(`healthy, with \`reuse: '${reuse}'\`: ends the browser, unless it is unused`, async () => {
    const used = leased(planOf({ reuse }));
    await used.returns.giveBack(give, used.worker);
    expect(used.held).toMatchObject({ state: 'ending', record: { endReason: 'finished' } });

    const unused = leased(planOf({ reuse }));
    await unused.returns.giveBack({ ...give, unused: true }, unused.worker);
    expect(unused.held).toMatchObject({ state: 'idle', record: { workersServed: 0, lentAt: null } });
  });
}

test('healthy while the run ends: ends the browser', async () => {
  const { returns, worker, held, closing } = leased(planOf());
  closing.abort(new Error('the run ends'));
  await returns.giveBack(give, worker);
  expect(held).toMatchObject({ state: 'ending', record: { endReason: 'finished' } });
});

test.describe('a browser that saves its profile when it ends', () => {
  const plan = planOf({ session: { profile: { name: 'p', persist: true } } });

  test('is ended, and its worker waits for the end', async () => {
    const { returns, worker, held, confirmed } = leased(plan);
    let over = false;
    const returned = returns.giveBack(give, worker).then(() => {
      over = true;
    });
    await settled();
    expect(held.state).toBe('ending');
    expect(over).toBe(false);
    confirmed[0]?.();
    await returned;
  });

  test('delays its worker for a limited time only', async () => {
    const { returns, worker, clock } = leased(plan);
    const returned = returns.giveBack(give, worker);
    await clock.advance(10_000);
    await returned;
    expect(clock.timers).toBe(0);
  });

  test('goes to the worker that replaces its own', async () => {
    const { returns, worker, held } = leased(plan);
    await returns.giveBack({ ...give, toBeReplaced: true }, worker);
    expect(held.state).toBe('idle');
  });
});

test("ignores a return of another worker's browser, and of one that is ending", async () => {
  const { returns, worker, held, clock } = leased(planOf());
  await returns.giveBack({ ...give, condition: 'lost' }, {});
  await returns.giveBack({ ...give, sessionId: 'foreign' }, worker);
  expect(held).toMatchObject({ state: 'leased', holder: worker });
  markEnding(held, 'run-ended', clock.now());
  await returns.giveBack({ ...give, condition: 'lost' }, worker);
  expect(held.record.endReason).toBe('run-ended');
});

test('when a worker is gone, ends its browser and no other', async () => {
  const { returns, worker, held } = leased(planOf());
  returns.holderGone({});
  expect(held.state).toBe('leased');
  returns.holderGone(worker);
  expect(held).toMatchObject({ state: 'ending', record: { endReason: 'worker-died' } });
});
