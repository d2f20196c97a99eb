import { equal, ok } from 'node:assert/strict';
import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { HeldBrowsers, leaseTo, markEnding } from '../../../../src/broker/browsers/held-browser.ts';
import { parseNote } from '../../../../src/broker/browsers/session-note.ts';
import { SessionNotes, startHeartbeat } from '../../../../src/broker/leases/session-notes.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { run } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock, settled } from '../../../support/unit/broker/fake-clock.ts';
import { freshBrowser } from '../../../support/unit/broker/held-parts.ts';

/** The notes of a running run. */

const BEAT_MS = 5 * 60_000;

function notesOf() {
  const clock = new FakeClock();
  const written: string[] = [];
  const writer = {
    write: async (sessionId: string, note: string) => {
      const parsed = parseNote(note);
      written.push(`${sessionId} ${parsed?.project} ${parsed?.slot} ${parsed?.beat.getTime()}`);
      throw new Error('a note is never why anything fails');
    },
  };
  const notes = new SessionNotes(writer, { ...run, now: () => clock.now() });
  return { clock, written, notes };
}

test('rewrites a note when another slot gets the browser, and tries again after a failure', async () => {
  const { clock, written, notes } = notesOf();
  const held = freshBrowser(clock, 's');
  const lendTo = async (index: number) => {
    leaseTo(held, {}, { project: 'p', index }, 0, clock.now());
    notes.writeIfMoved(held);
    await settled();
  };
  await lendTo(0); // the original slot
  expect(written).toEqual([]);
  await lendTo(3);
  expect(written).toEqual([`s p 3 ${clock.now()}`]);
  await lendTo(3);
  expect(written).toHaveLength(2);
  await lendTo(0);
  expect(written).toHaveLength(2); // the note is still correct
});

/** A browser that moves to other slots while the service is slow. */
class LeasedTo {
  readonly clock = new FakeClock();
  readonly held = freshBrowser(this.clock, 's');
  readonly underway: { slot: number | undefined; settle(refused: boolean): void }[] = [];
  /** The slot in the note. */
  says: number | undefined = 0;
  readonly notes = new SessionNotes({ write: (_, note) => this.update(note) }, run);

  lease(index: number): void {
    const idle = this.underway.length === 0;
    leaseTo(this.held, {}, { project: 'p', index }, 0, this.clock.now());
    this.notes.writeIfMoved(this.held);
    if (idle) equal(this.underway.length, this.says === index ? 0 : 1);
  }

  async answer(refused: boolean): Promise<void> {
    const request = this.underway.shift();
    if (!refused) this.says = request?.slot ?? this.says;
    request?.settle(refused);
    await settled();
  }

  private update(note?: string | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (refused: boolean) => (refused ? reject(new Error('503')) : resolve());
      this.underway.push({ slot: parseNote(note)?.slot, settle });
    });
  }
}

test('writes one note at a time, and the last one is correct, however often a browser moves', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('lease' as const), index: fc.nat(2) }),
    fc.record({ do: fc.constantFrom('answered' as const, 'refused' as const, 'beat' as const) }),
  );
  const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
    const leased = new LeasedTo();
    for (const each of steps) {
      if (each.do === 'beat') leased.notes.write(leased.held);
      else if (each.do === 'lease') leased.lease(each.index);
      else await leased.answer(each.do === 'refused');
      ok(leased.underway.length < 2);
    }
    while (leased.underway.length > 0) await leased.answer(false);
    leased.notes.writeIfMoved(leased.held);
    while (leased.underway.length > 0) await leased.answer(false);
    equal(leased.says, leased.held.slot.index);
  });
  await fc.assert(property, propertyRuns(500));
});

test('every five minutes until the run ends, the ledger and the notes of its browsers get a sign of life', async () => {
  const { clock, written, notes } = notesOf();
  const browsers = new HeldBrowsers();
  let beats = 0;
  const ledger = {
    beat: () => {
      beats += 1;
    },
  };
  const [idle, ending] = [freshBrowser(clock, 'idle'), freshBrowser(clock, 'ending')];
  browsers.add(idle);
  browsers.add(ending);
  markEnding(ending, 'idle', clock.now());
  const stop = startHeartbeat({ ledger, browsers, notes, clock });
  const first = clock.now() + BEAT_MS;
  await clock.advance(2 * BEAT_MS);
  expect(beats).toBe(2);
  expect(written).toEqual([`idle p 0 ${first}`, `idle p 0 ${first + BEAT_MS}`]);
  stop();
  await clock.advance(2 * BEAT_MS);
  expect(beats).toBe(2);
  expect(clock.timers).toBe(0);
});
