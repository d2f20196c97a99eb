import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from '@playwright/test';
import fc from 'fast-check';
import pLimit from 'p-limit';
import type { BrowserSpec } from '../../../../src/emulator/browser-spec.ts';
import type { BrowserExit } from '../../../../src/emulator/chromium/browser-process.ts';
import type { Launcher, RunningBrowser } from '../../../../src/emulator/running-browser.ts';
import { BrowserSession } from '../../../../src/emulator/state/browser-session.ts';
import { WarmBrowsers } from '../../../../src/emulator/state/warm-browsers.ts';
import { ManualClock } from '../../../support/emulator/manual-clock.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

/** Warm browsers that are taken, end, crash and fail to start in any order. */

const REPLACE_AFTER_MS = 30_000;
const SPEC: BrowserSpec = {
  type: 'hosted',
  fullBecause: null,
  country: 'US',
  timezone: 'UTC',
  language: 'en-US',
  acceptLanguage: 'en-US',
  windowSize: '1280x800',
  displaySize: '1920x1080',
  disableSpeechApi: false,
  url: undefined,
  browserCheck: false,
  adblock: false,
  proxyUrl: undefined,
};

/** Starts browsers when the test lets them start. */
class ScriptedLauncher implements Launcher {
  readonly warmStarts = 100;
  readonly replaceAfterMs = REPLACE_AFTER_MS;
  /** Let the start of a browser succeed or fail. */
  readonly starts: { succeed: () => void; fail: () => void }[] = [];
  /** Make a running browser crash. */
  readonly crashes: (() => void)[] = [];

  launch(_spec: BrowserSpec, signal: AbortSignal): Promise<RunningBrowser> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => () => {
        this.starts.splice(this.starts.indexOf(start), 1);
        act();
      };
      const start = {
        succeed: settle(() => resolve(this.#browser())),
        fail: settle(() => reject(new Error('broken'))),
      };
      this.starts.push(start);
      signal.addEventListener('abort', () => this.starts.includes(start) && start.fail());
    });
  }

  #browser(): RunningBrowser {
    let exit: (exit: BrowserExit) => void = () => undefined;
    const exited = new Promise<BrowserExit>((resolve) => {
      exit = resolve;
    });
    const end = (code: number | null) => exit({ code, signal: null });
    this.crashes.push(() => end(1));
    return {
      reserve: () => Promise.reject(new Error('no client connects')),
      exited,
      cut: () => 0,
      stop: async () => end(0),
      crash: () => end(1),
      stall: () => undefined,
      resume: () => undefined,
    };
  }

  pids(): number[] {
    return [];
  }

  async stop(): Promise<void> {}
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ op: fc.constant('take' as const) }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constantFrom('succeed', 'succeed', 'fail'), at: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constantFrom('end', 'crash'), at: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('wait'), ms: fc.constantFrom(1, 999, 1_000, 29_999, 30_000) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('keep'), wanted: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constantFrom('demand', 'flush', 'rebuild') }) },
);

class History {
  readonly #clock = new ManualClock();
  readonly #launcher = new ScriptedLauncher();
  readonly #taken: BrowserSession[] = [];
  readonly #warm: WarmBrowsers;
  #wanted = 2;
  #created = 0;
  /** When replacements have to have begun: the clock's time. */
  #due = Number.POSITIVE_INFINITY;
  #isInDemand = false;

  constructor() {
    const [launcher, clock] = [this.#launcher, this.#clock];
    const context = { launcher, clock, startupDeadline: 60_000, log: () => undefined };
    this.#warm = new WarmBrowsers({
      create: () => {
        this.#created += 1;
        return new BrowserSession({ spec: SPEC, servedBy: 'here', note: null }, context);
      },
      onReady: () => undefined,
      slots: pLimit(launcher.warmStarts),
      replaceAfterMs: launcher.replaceAfterMs,
      maxReadyAgeMs: () => 3_600_000,
      clock,
    });
    void this.#warm.keep(this.#wanted);
  }

  async take(given: { op: string; at?: number; ms?: number; wanted?: number }): Promise<void> {
    const { op, at = 0, ms = 0, wanted = 0 } = given;
    const [starts, crashes] = [this.#launcher.starts, this.#launcher.crashes];
    if (op === 'take') this.#take();
    else if (op === 'succeed') starts[at]?.succeed();
    else if (op === 'fail') starts[at]?.fail();
    else if (op === 'crash') crashes[at]?.();
    else if (op === 'end') this.#end(at);
    else if (op === 'wait') this.#clock.advance(ms);
    else this.#change(op, wanted);
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
    this.#judge();
  }

  /** After this, everything has begun that has to. */
  async settle(): Promise<void> {
    for (let n = 0; n < 10; n += 1) {
      await this.take({ op: 'wait', ms: REPLACE_AFTER_MS });
      for (const start of [...this.#launcher.starts]) start.succeed();
    }
    await this.take({ op: 'wait', ms: 1 });
    assert.equal(this.#warm.ready, this.#wanted);
    assert.equal(this.#warm.starting, 0);
    assert.equal(this.#warm.isFailing, false);
    await this.#warm.keep(0);
  }

  #take(): void {
    const [before, created] = [this.#warm.ready, this.#created];
    const session = this.#warm.take();
    assert.equal(this.#warm.ready, Math.max(0, before - 1));
    assert.equal(session !== undefined, before > 0);
    if (!session) return;
    assert.equal(session.status, 'active');
    if (!this.#isInDemand) assert.equal(this.#created, created, 'a replacement started beside a taken browser');
    this.#taken.push(session);
    this.#due = Math.min(this.#due, this.#clock.now() + REPLACE_AFTER_MS);
    session.onEnd(() => {
      this.#due = this.#clock.now() + 1_000;
    });
  }

  #end(at: number): void {
    const [session] = this.#taken.splice(at, 1);
    void session?.stop();
  }

  #change(op: string, wanted: number): void {
    if (op === 'demand') {
      this.#isInDemand = true;
      this.#warm.demand();
    } else if (op === 'flush') void this.#warm.flush();
    else if (op === 'rebuild') void this.#warm.rebuild();
    else {
      this.#wanted = wanted;
      void this.#warm.keep(wanted);
    }
    this.#due = this.#clock.now();
  }

  #judge(): void {
    const { isFailing, ready, starting } = this.#warm;
    if (isFailing) assert(ready + starting <= this.#wanted);
    else assert.equal(ready + starting, this.#wanted);
    if (this.#clock.now() >= this.#due) this.#due = Number.POSITIVE_INFINITY;
    // What is due has begun, and only browsers that were taken have replacements that have not.
    const waiting = starting - this.#launcher.starts.length;
    if (this.#due === Number.POSITIVE_INFINITY || this.#isInDemand) assert.equal(waiting, 0);
    assert(waiting >= 0);
  }
}

test('keeps as many as it should, and starts what is due, whatever happens to them', async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
    const history = new History();
    for (const each of steps) await history.take(each);
    await history.settle();
  });
  await fc.assert(property, propertyRuns(2_000, 300));
});
