import { expect, test } from '@playwright/test';
import { type HeldBrowser, markEnded, markEnding } from '../../../../src/broker/browsers/held-browser.ts';
import { HeldBrowsers } from '../../../../src/broker/browsers/held-browsers.ts';
import { endRun } from '../../../../src/broker/leasing/run-end.ts';
import { RunPhase } from '../../../../src/broker/leasing/run-phase.ts';
import { Supplies } from '../../../../src/broker/leasing/supply/supplies.ts';
import { memoryLedger, memoryRecorder, quiet } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock, settled } from '../../../support/unit/broker/fake-clock.ts';
import { freshBrowser } from '../../../support/unit/broker/held-parts.ts';
import { ScriptedService } from '../../../support/unit/broker/scripted-service.ts';

/** The end of a run: what it waits for, for how long, and what it says meanwhile. */

function ending() {
  const clock = new FakeClock();
  const phase = new RunPhase();
  const browsers = new HeldBrowsers();
  const said: string[] = [];
  const order: string[] = [];
  /** Settles the end of each browser, which the service has not confirmed before. */
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
  phase.answersOver.addEventListener('abort', () => answered());
  const fetcher = { settled: () => pending, doubtful: new Set<string>(), fetch: () => never() };
  const options = {
    phase,
    browsers,
    supplies: new Supplies({ fetcher, ender, recorder: memoryRecorder(), closing: phase.closing, clock }),
    fetcher,
    pools: {
      deleteOwn: async () => {
        order.push('pools');
        return [];
      },
    },
    client: new ScriptedService(clock),
    ledger: memoryLedger(),
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
  throw new Error('nothing is fetched at the end');
}

test('first what is held, then what was on its way, then the pools', async () => {
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

test('answers are waited for for 6 s, ends for 60 s, and the terminal is told after 3 s', async () => {
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

test('the first reason to close is what who waits is told', () => {
  const phase = new RunPhase();
  const [first, second] = [new Error('no credit'), new Error('over')];
  phase.close(first as never);
  phase.close(second as never);
  expect(phase.closing.reason).toBe(first);
  expect(phase.answersOver.aborted || phase.endsOver.aborted).toBe(false);
});
