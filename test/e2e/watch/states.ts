import type { FinishedTest, RunView, SlotView } from '../../../src/broker/watch/view.ts';
import { aFinishedTest, aSlot, ScriptedRun, type ScriptedRuns } from '../../support/watch/scripted-runs.ts';

/** What a run can look like on the watch page. */
export type State = 'running' | 'waiting' | 'failed' | 'on hold' | 'finished';

export const STATES: readonly State[] = ['running', 'waiting', 'failed', 'on hold', 'finished'];

const TITLES = [
  'checkout › pays with a saved card',
  'search › finds products by name',
  'account › changes the delivery address and keeps the old one for orders that are on their way already',
  'cart › keeps its items after a reload',
  'login › rejects a wrong password',
  'sale › shows the old price',
  'payment › asks the bank for a confirmation when the amount is above the limit of the card',
];
const STEPS = [
  'Click getByRole("button", { name: "Pay" })',
  'Navigate to "/search?q=lamp"',
  'Fill "12 Long Street" getByLabel("Street")',
  null,
  'Expect "toBeVisible" getByText("Wrong password")',
];
const PATHS = [
  '/checkout?step=payment',
  '/search?q=lamp',
  '/account/addresses/2/edit?return=%2Forders',
  '/cart',
  '/login',
];
/** As the broker words them. */
const WAITS = [
  'the workspace is at its concurrent-browser limit, waiting for a browser to end',
  'waiting for the pool to have one ready',
  'waiting for the service to start one',
];
const PROJECTS = ['us', 'de', 'mobile'];

/**
 * Adds a run in this state.
 * @param count of its slots
 * @param picture of a page, by number
 */
export async function addRun(
  runs: ScriptedRuns,
  state: State,
  count: number,
  picture: (number: number) => Buffer,
): Promise<ScriptedRun> {
  const run = new ScriptedRun({ pictureBytes: count * 431_000, ...(state === 'finished' ? ended() : {}) });
  runs.add(run);
  const slots = Array.from({ length: count }, (_, slot) => slotIn(state, slot));
  for (const test of finishedIn(state, count))
    runs.finish(run, test, test.retry > 1 ? undefined : picture(numberOf(test)));
  runs.change(run, { slots: state === 'finished' ? [] : slots });
  return run;
}

/** Sends the picture of each slot that has a page. */
export async function showPictures(
  runs: ScriptedRuns,
  run: ScriptedRun,
  picture: (number: number) => Buffer,
): Promise<void> {
  for (const { slot, pages } of run.view.slots) {
    // The browser's first page is open, too.
    for (const { target, url } of pages) await runs.picture(run, { slot, target, url, data: picture(slot) });
  }
}

function ended(): Partial<RunView> {
  return { endedAt: Date.now() - 20_000, startedAt: Date.now() - 260_000 };
}

function slotIn(state: State, slot: number): SlotView {
  const at = <T>(values: readonly T[], by = slot): T => values[by % values.length] as T;
  const path = at(PATHS);
  const running = aSlot({
    slot,
    test: {
      id: `test-${slot}`,
      title: at(TITLES),
      project: at(PROJECTS),
      step: at(STEPS),
      startedAt: Date.now() - 3_000 * (slot + 1),
    },
    pages: [
      { target: `page-${slot}`, url: `https://shop.example${path}` },
      { target: `first-${slot}`, url: 'about:blank' },
    ],
  });
  const idle = { sessionId: null, test: null, pages: [], since: Date.now() - 41_000 };
  if (state === 'waiting' && slot % 3 === 0) return { ...running, ...idle, waitsFor: at(WAITS, slot / 3) };
  if (slot > 0 && slot % 7 === 0) return { ...running, test: null };
  if (slot > 0 && slot % 9 === 0) return { ...running, ...idle };
  if (state === 'on hold' && slot % 6 === 0) {
    const reason = slot === 0 ? 'Log in with the code from your phone' : 'the test failed';
    return { ...running, hold: { reason, until: Date.now() + 583_000 - slot * 11_000 } };
  }
  return running;
}

function finishedIn(state: State, count: number): FinishedTest[] {
  if (state === 'waiting') return [];
  const failed = state === 'running' ? 0 : count === 1 ? 1 : 7;
  return Array.from({ length: count === 1 ? 4 : 40 }, (_, number) => {
    const status =
      number >= failed ? (number % 11 === 10 ? 'skipped' : 'passed') : number % 3 === 1 ? 'timedOut' : 'failed';
    return aFinishedTest({
      id: `finished-${number}`,
      title: TITLES[number % TITLES.length],
      project: PROJECTS[number % PROJECTS.length],
      slot: number % count,
      status,
      ok: number >= failed,
      retry: number >= failed ? 0 : number % 4,
    });
  });
}

function numberOf({ id }: FinishedTest): number {
  return Number(id.split('-')[1]);
}
