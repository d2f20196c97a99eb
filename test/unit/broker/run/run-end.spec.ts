import { expect, test } from '@playwright/test';
import { BrowserQueue } from '../../../../src/broker/acquire/browser-queue.ts';
import { type HeldBrowser, HeldBrowsers, markEnded, markEnding } from '../../../../src/broker/browsers/held-browser.ts';
import { endRun, RunPhase } from '../../../../src/broker/run/run-end.ts';
import { hosted, quiet } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock, settled } from '../../../support/unit/broker/fake-clock.ts';
import { freshBrowser } from '../../../support/unit/broker/held-parts.ts';
import { ScriptedService } from '../../../support/unit/broker/scripted-service.ts';

/** The end of a run: what it waits for, for how long, and what it prints meanwhile. */

function ending() {
  const clock = new FakeClock();
  const phase = new RunPhase();
  const browsers = new HeldBrowsers();
  const said: string[] = [];
  const order: string[] = [];
  /** Confirms the end of each browser; without this call, the service has not confirmed it. */
  const confirm = new Map<string, () => void>();
  const ender = {
    end(held: HeldBrowser, reason: Parameters<typeof markEnding>[1]) {
      const { sessionId } = held.browser;
      order.push(`end ${sessionId}`);
      markEnding(held, reason, clock.now());
      held.ended = new Promise((resolve) => {
        const over = () => {
          markEnded(held, clock.now());
          resolve();
        };
        confirm.set(sessionId, over);
        phase.endsOver.addEventListener('abort', over);
      });
    },
  };
  let answered: () => void = () => undefined;
  const pending = new Promise<void>((resolve) => {
    answered = resolve;
  });
  phase.responsesOver.addEventListener('abort', () => answered());
  const orders = { settled: () => pending, doubtful: [], order: () => never() };
  const options = {
    phase,
    browsers,
    queue: new BrowserQueue({
      orders,
      ender,
      notices: { add: never },
      closing: phase.closing,
      clock,
    }),
    orders,
    pools: {
      deleteOwn: async () => {
        order.push('pools');
        return [];
      },
    },
    provider: hosted(new ScriptedService(clock)),
    log: { ...quiet, momentary: (text: string) => void said.push(text) },
    clock,
  };
  let over = false;
  const add = (sessionId: string) => browsers.add(freshBrowser(clock, sessionId));
  const begin = () =>
    void endRun(options).then(() => {
      over = true;
    });
  return { clock, phase, said, order, confirm, answer: () => answered(), add, begin, isOver: () => over };
}

function never(): never {
  throw new Error('nothing is ordered at the end');
}

test('ends the held browsers first, then the pending ones, then the pools', async () => {
  const { clock, phase, order, confirm, answer, add, begin, isOver } = ending();
  add('held');
  begin();
  expect(phase.closing.reason).toMatchObject({ code: 'BROKER_LOST' });
  expect(order).toEqual(['end held']);
  await clock.advance(1_000);
  add('late');
  answer();
  await settled();
  expect(order).toEqual(['end held', 'end late']);
  confirm.get('held')?.();
  await settled();
  expect(isOver()).toBe(false);
  confirm.get('late')?.();
  await settled();
  expect(order).toEqual(['end held', 'end late', 'pools']);
  expect(isOver()).toBe(true);
  expect(clock.timers).toBe(0);
});

test('waits 6 s for responses and 60 s for ends, and prints a notice after 3 s', async () => {
  const { clock, said, add, begin, isOver } = ending();
  add('silent');
  begin();
  await clock.advance(2_999);
  expect(said).toEqual([]);
  await clock.advance(1);
  expect(said).toEqual(['waiting for the service to confirm the end of browser silent']);
  await clock.advance(56_999);
  expect(isOver()).toBe(false);
  await clock.advance(1);
  expect(isOver()).toBe(true);
  expect(clock.timers).toBe(0);
});

test('waiting workers get the first reason to close', () => {
  const phase = new RunPhase();
  const [first, second] = [new Error('no credit'), new Error('over')];
  phase.close(first as never);
  phase.close(second as never);
  expect(phase.closing.reason).toBe(first);
  expect(phase.responsesOver.aborted || phase.endsOver.aborted).toBe(false);
});
