import { expect, test } from '@playwright/test';
import { claim, markEnding } from '../../../../src/broker/browsers/held-browser.ts';
import { HeldBrowsers } from '../../../../src/broker/browsers/held-browsers.ts';
import { SessionNotes, startHeartbeat } from '../../../../src/broker/browsers/session-notes.ts';
import { parseNote } from '../../../../src/lease/note.ts';
import { run } from '../../../support/unit/broker/broker-parts.ts';
import { FakeClock } from '../../../support/unit/broker/fake-clock.ts';
import { freshBrowser } from '../../../support/unit/broker/held-parts.ts';

/** What notes say of a run that goes on. */

const BEAT_MS = 5 * 60_000;

function notesOf() {
  const clock = new FakeClock();
  const written: string[] = [];
  const client = {
    updateSession: async (sessionId: string, { note }: { note?: string | null }) => {
      const parsed = parseNote(note);
      written.push(`${sessionId} ${parsed?.project} ${parsed?.slot} ${parsed?.beat.getTime()}`);
      throw new Error('a note is never why anything fails');
    },
  };
  const notes = new SessionNotes(client as never, { ...run, now: () => clock.now() });
  return { clock, written, notes };
}

test('a note is written anew where another worker has the browser now', () => {
  const { clock, written, notes } = notesOf();
  const held = freshBrowser(clock, 's');
  const lendTo = (index: number) => {
    claim(held, {}, { project: 'p', index }, 0, clock.now());
    notes.writeIfMoved(held);
  };
  lendTo(0); // as it was asked for
  expect(written).toEqual([]);
  lendTo(3);
  expect(written).toEqual([`s p 3 ${clock.now()}`]);
});

test('every five minutes the ledger and the notes of what runs say that the run is alive, until it ends', async () => {
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
