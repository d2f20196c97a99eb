import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import type { HoldParams, SlotInput } from '../../../src/broker/watch/calls.ts';
import { LeaseError } from '../../../src/errors.ts';
import { type HeldConnection, type HeldTest, Holds } from '../../../src/features/hold/holds.ts';
import type { Environment } from '../../../src/options/environment.ts';
import type { RecordedByFeatures } from '../../../src/record/test-record.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { FakeClock, settled } from '../../support/unit/broker/fake-clock.ts';
import { expectOneLine, text as hostile } from '../report/hostile-records.ts';

/** Holds of one worker. The test plays the broker, the browser and the person. */

const MINUTE = 60_000;

function started({ environment = {}, isWatched = true }: { environment?: Environment; isWatched?: boolean } = {}) {
  const clock = new FakeClock();
  const said: string[] = [];
  const begun: HoldParams[] = [];
  let release: () => void = () => undefined;
  let lose: () => void = () => undefined;
  let endHolds = 0;
  let onInputs: (inputs: SlotInput[] | null) => void = () => undefined;
  const inputs = () =>
    new Promise<SlotInput[] | null>((resolve) => {
      onInputs = resolve;
    });
  const broker = {
    hold: (params: HoldParams) => {
      begun.push(params);
      return new Promise<void>((resolve, reject) => {
        release = () => {
          resolve();
          onInputs(null);
        };
        lose = () => reject(new LeaseError('BROKER_LOST', 'the broker is gone'));
      });
    },
    endHold: async () => {
      endHolds += 1;
      onInputs(null);
    },
    inputs,
    watchOrders: async () => ({ number: 1, isWatched, pictures: null }),
    redact: async ({ texts, secrets }: { texts: string[]; secrets: string[] }) =>
      texts.map((text) => secrets.concat('hunter2').reduce((masked, secret) => masked.replaceAll(secret, '***'), text)),
    say: async ({ text }: { text: string }) => void said.push(text),
  };
  const controls: string[] = [];
  const allowed: number[] = [];
  const fields: RecordedByFeatures = { evidence: null, holds: [] };
  let close: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const browser = (lifetimeMs = 60 * MINUTE) => ({
    lease: {
      sessionId: 'session-1',
      cdpUrl: 'wss://host/secret',
      expiresAt: new Date(clock.now() + lifetimeMs).toISOString(),
    },
    screencast: {
      takeOver: () => {
        controls.push('taken over');
        return { input: (target: string) => void controls.push(target), end: () => void controls.push('ended') };
      },
    },
    closed,
  });
  const held: HeldTest = {
    titles: ['shop', 'logs in'],
    fields,
    allow: (ms) => {
      allowed.push(ms);
      return () => void allowed.push(0);
    },
  };
  return {
    clock,
    said,
    begun,
    controls,
    allowed,
    recorded: () => fields.holds.map(({ reason, end }) => [reason, end]),
    browser,
    held,
    failed: (on: HeldConnection) => ({ ...held, connections: () => [on] }),
    holds: new Holds({ broker, slot: 3, environment, clock }),
    release: () => release(),
    loseBroker: () => lose(),
    closeBrowser: () => close(),
    act: (target: string) => onInputs([{ target, input: { kind: 'text', text: 'x' } }]),
    endHolds: () => endHolds,
  };
}

test('a hold lasts until a person releases it, who controls the page meanwhile', async () => {
  const { holds, browser, held, clock, said, begun, controls, allowed, recorded, act, release, endHolds } = started();
  const hold = holds.hold(browser(), '  enter the code for hunter2 ', held);
  await clock.advance(5 * MINUTE);
  expect(begun).toEqual([{ slot: 3, reason: 'enter the code for ***', until: clock.now() + 5 * MINUTE }]);
  expect(said).toEqual([
    expect.stringMatching(
      /^"shop › logs in" is on hold until \d\d:\d\d:\d\d: enter the code for \*\*\*\. See and release it with `npx poolwright watch`$/,
    ),
  ]);
  act('page-1');
  await settled();
  act('page-2');
  await settled();
  expect(allowed).toEqual([10 * MINUTE]);
  release();
  await hold;
  expect(controls).toEqual(['taken over', 'page-1', 'page-2', 'ended']);
  expect(allowed).toEqual([10 * MINUTE, 0]);
  expect(recorded()).toEqual([['enter the code for ***', 'released']]);
  expect(endHolds()).toBe(0);
  expect(clock.timers).toBe(0);
});

test('a hold ends after ten minutes', async () => {
  const { holds, browser, held, clock, said, controls, recorded, endHolds } = started();
  const hold = holds.hold(browser(), 'log in', held);
  await clock.advance(10 * MINUTE - 1);
  expect(controls).toEqual(['taken over']);
  await clock.advance(1);
  await hold;
  expect(controls).toEqual(['taken over', 'ended']);
  expect(recorded()).toEqual([['log in', 'time-limit']]);
  expect(said.at(-1)).toBe('"shop › logs in" continues: it was on hold for 10 minutes');
  expect(endHolds()).toBe(1);
});

test('a hold ends 15 s before the browser does, and does not begin later than that', async () => {
  const { holds, browser, held, clock, said, begun, recorded } = started();
  const short = browser(2 * MINUTE);
  const hold = holds.hold(short, 'log in', held);
  await clock.advance(2 * MINUTE - 15_000);
  await hold;
  expect(recorded()).toEqual([['log in', 'lease-end']]);
  expect(said.at(-1)).toMatch(/^"shop › logs in" continues: the browser of session session-1 ends at \d\d:\d\d:\d\d$/);
  await holds.hold(short, 'log in again', held);
  expect(begun).toHaveLength(1);
  expect(said.at(-1)).toMatch(/^"shop › logs in" is not put on hold: the browser of session session-1 ends at/);
});

test('a hold ends when the browser is lost or given back, and when the broker is gone', async () => {
  for (const what of ['closeBrowser', 'loseBroker'] as const) {
    const parts = started();
    const hold = parts.holds.hold(parts.browser(), 'log in', parts.held);
    await settled();
    parts[what]();
    await hold;
    expect(parts.recorded()).toEqual([['log in', 'interrupted']]);
    expect(parts.controls).toEqual(['taken over', 'ended']);
    expect(parts.clock.timers).toBe(0);
  }
});

test('a second hold waits for the first one', async () => {
  const { holds, browser, held, clock, begun, release, recorded, allowed } = started();
  const one = holds.hold(browser(), 'one', held);
  const two = holds.hold(browser(), 'two', null);
  const three = holds.hold(browser(), 'three', held);
  await settled();
  expect(begun.map(({ reason }) => reason)).toEqual(['one']);
  // The test waits for the other ones, too.
  expect(allowed).toEqual([10 * MINUTE, 30 * MINUTE]);
  release();
  await one;
  await settled();
  expect(begun.map(({ reason }) => reason)).toEqual(['one', 'two']);
  await clock.advance(10 * MINUTE);
  await two;
  await settled();
  release();
  await three;
  expect(recorded()).toEqual([
    ['one', 'released'],
    ['three', 'released'],
  ]);
});

test('a hold needs a reason', async () => {
  const { holds, browser, held } = started();
  for (const reason of ['', ' ', undefined as unknown as string])
    await expect(holds.hold(browser(), reason, held)).rejects.toThrow('`hostedSession.hold(reason)` needs a reason');
});

test('in CI, only what somebody watches is put on hold', async () => {
  const environment = { CI: 'true' };
  const unwatched = started({ environment, isWatched: false });
  const { holds, browser, held, failed, said, begun } = unwatched;
  await expect(holds.hold(browser(), 'log in', held)).rejects.toMatchObject({
    name: 'OptionsError',
    field: 'hostedSession.hold',
    message: expect.stringContaining('this is a CI run (`CI` is set) and nobody watches it'),
  });
  await holds.testFailed(failed(browser()));
  expect(said).toEqual(['POOLWRIGHT_HOLD=failure has no effect: this is a CI run (`CI` is set) and nobody watches it']);
  expect(begun).toEqual([]);

  const watched = started({ environment });
  const hold = watched.holds.testFailed(watched.failed(watched.browser()));
  await settled();
  expect(watched.begun).toMatchObject([{ reason: 'the test failed' }]);
  watched.release();
  await hold;
});

test('shows its reason as one clean line', async () => {
  const broker = { watchOrders: async () => ({ number: 1, isWatched: false, pictures: null }) };
  const holds = new Holds({ broker: broker as never, slot: 0, environment: { CI: '1' } });
  const property = fc.asyncProperty(hostile, async (reason) => {
    const refusal = await holds.hold({} as never, `log in ${reason}`, null).catch((error) => error);
    expectOneLine(refusal.message);
  });
  await fc.assert(property, propertyRuns(200));
});
