import { expect, test } from '@playwright/test';
import { IdleWorker } from '../../../../src/clients/shared/idle-worker.ts';
import { deferred } from '../../../../src/common/deferred.ts';
import { FakeClock } from '../../../support/unit/broker/fake-clock.ts';

/** A worker whose browser others want, unless a test sets something else. */
function worker() {
  const clock = new FakeClock();
  const state = { inUse: false, wanted: true, asked: [] as number[], givenUp: 0 };
  /** Answers a request that was held back by {@link hold}. */
  let answer: (() => void) | null = null;
  let held = false;
  const idle = new IdleWorker(
    {
      isInUse: () => state.inUse,
      isWanted: async (idleMs) => {
        state.asked.push(idleMs);
        if (held) {
          await new Promise<void>((resolve) => {
            answer = resolve;
          });
        }
        return state.wanted;
      },
      giveUp: () => {
        state.givenUp += 1;
      },
    },
    clock,
  );
  const hold = () => {
    held = true;
  };
  return { clock, state, idle, hold, answer: () => answer?.() };
}

test('gives its browser up once others want it, and says how long it was idle', async () => {
  const { clock, state, idle } = worker();
  state.wanted = false;
  idle.begin();
  await clock.advance(3_500);
  expect(state).toMatchObject({ asked: [1_000, 2_000, 3_000], givenUp: 0 });
  state.wanted = true;
  await clock.advance(1_000);
  expect(state.givenUp).toBe(1);
});

test('asks nothing while a test runs', async () => {
  const { clock, state, idle } = worker();
  await clock.advance(60_000);
  idle.begin();
  await clock.advance(900);
  idle.end();
  await clock.advance(60_000);
  expect(state).toMatchObject({ asked: [], givenUp: 0 });
  expect(clock.timers).toBe(0);
});

for (const what of ['a test begins', 'a hook takes the browser', 'a context opens']) {
  test(`keeps its browser when ${what} while it asks`, async () => {
    const { clock, state, idle, hold, answer } = worker();
    hold();
    idle.begin();
    await clock.advance(1_000);
    if (what === 'a test begins') idle.end();
    else if (what === 'a hook takes the browser') idle.restart();
    else state.inUse = true;
    answer();
    await clock.advance(900);
    expect(state).toMatchObject({ asked: [1_000], givenUp: 0 });
  });
}

test('is idle since its last context closed', async () => {
  const { clock, state, idle } = worker();
  state.inUse = true;
  idle.begin();
  await clock.advance(60_000);
  expect(state.asked).toEqual([]);
  state.inUse = false;
  await clock.advance(1_000);
  expect(state).toMatchObject({ asked: [1_000], givenUp: 1 });
});

test('gives its browser up while its test waits for another one, until it waits for none', async () => {
  const { clock, state, idle } = worker();
  idle.begin();
  idle.end();
  const [one, other] = [deferred(), deferred()];
  idle.whileWaiting(one.promise);
  idle.whileWaiting(other.promise);
  one.resolve();
  await clock.advance(1_000);
  expect(state.givenUp).toBe(1);
  other.resolve();
  await clock.advance(60_000);
  expect(state.givenUp).toBe(1);
  expect(clock.timers).toBe(0);
});

test('gives its browser up after a test whose wait ends later', async () => {
  const { clock, state, idle } = worker();
  const wait = deferred();
  idle.whileWaiting(wait.promise);
  idle.begin();
  wait.resolve();
  await clock.advance(1_000);
  expect(state.givenUp).toBe(1);
});

test('asks again after a lost broker', async () => {
  const { clock, state } = worker();
  let calls = 0;
  const idle = new IdleWorker(
    {
      isInUse: () => false,
      isWanted: async () => {
        calls += 1;
        if (calls === 1) throw new Error('no broker');
        return true;
      },
      giveUp: () => {
        state.givenUp += 1;
      },
    },
    clock,
  );
  idle.begin();
  await clock.advance(2_000);
  expect(state.givenUp).toBe(1);
});
