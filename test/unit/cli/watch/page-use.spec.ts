import { expect, test } from '@playwright/test';
import { pagesClosed } from '../../../../src/cli/watch/command.ts';
import { FakeClock } from '../../../support/unit/broker/fake-clock.ts';
import { ScriptedRun, ScriptedRuns } from '../../../support/watch/scripted-runs.ts';

/** How long the page that a run opens is served. */

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

function started() {
  const clock = new FakeClock();
  const server = { pages: 0 };
  const runs = new ScriptedRuns();
  const run = new ScriptedRun();
  runs.add(run);
  let isOver = false;
  const over = pagesClosed(server, runs, clock).then(() => {
    isOver = true;
  });
  return { clock, server, runs, run, over, isOver: () => isOver };
}

test('a page that is closed ends it after 5 s, a reload does not', async () => {
  const { clock, server, over, isOver } = started();
  server.pages = 1;
  await clock.advance(20 * 60 * SECOND);
  server.pages = 0;
  await clock.advance(4 * SECOND);
  server.pages = 2;
  await clock.advance(SECOND);
  server.pages = 0;
  await clock.advance(4 * SECOND);
  expect(isOver()).toBe(false);
  await clock.advance(2 * SECOND);
  await over;
  expect(clock.timers).toBe(0);
});

test('a page that does not open ends it after a minute', async () => {
  const { clock, over, isOver } = started();
  await clock.advance(59 * SECOND);
  expect(isOver()).toBe(false);
  await clock.advance(2 * SECOND);
  await over;
});

test('an open page ends an hour after the last run', async () => {
  const { clock, server, runs, run, over, isOver } = started();
  server.pages = 1;
  await clock.advance(2 * HOUR);
  expect(isOver()).toBe(false);
  runs.change(run, { endedAt: clock.now() });
  await clock.advance(HOUR - 2 * SECOND);
  expect(isOver()).toBe(false);
  await clock.advance(3 * SECOND);
  await over;
});
