import type { FinishedTest, SlotView } from '../../broker/watch/view.ts';
import type { Run } from './store.ts';

/** What the page says about runs, slots and tests. */

/** `0:05`, `12:34`, `1:02:03` */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const two = (number: number) => String(number).padStart(2, '0');
  const start = hours > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  return `${start}:${two(seconds % 60)}`;
}

function bytes(count: number): string {
  return count < 1e6 ? `${Math.ceil(count / 1e3)} kB` : `${(count / 1e6).toFixed(1)} MB`;
}

export function joined(...parts: (string | null | false)[]): string {
  return parts.filter((part) => part).join(' · ');
}

export function runFacts(run: Run, now: number): string {
  const { runner, startedAt, endedAt, passed, failed, pictureBytes } = run;
  return joined(
    runner ?? 'script',
    endedAt === null ? `running for ${duration(now - startedAt)}` : `ended after ${duration(endedAt - startedAt)}`,
    `began ${new Date(startedAt).toLocaleTimeString()}`,
    `${passed} passed`,
    failed > 0 && `${failed} failed`,
    `pictures so far: ${bytes(pictureBytes)}`,
  );
}

export type SlotState = 'hold' | 'running' | 'waiting' | 'between' | 'free';

export function stateOf({ hold, test, waitsFor, sessionId }: SlotView): SlotState {
  if (hold) return 'hold';
  if (waitsFor !== null) return 'waiting';
  if (test) return 'running';
  return sessionId === null ? 'free' : 'between';
}

const STATES: Record<SlotState, string> = {
  hold: 'on hold',
  running: 'running',
  waiting: 'waiting',
  between: 'between tests',
  free: 'free',
};

export function slotState(slot: SlotView): string {
  return STATES[stateOf(slot)];
}

/** In place of a picture. */
export function missingPicture({ waitsFor, sessionId, pages, test }: SlotView): string {
  if (waitsFor !== null) return `Waits for ${waitsFor}`;
  if (sessionId === null) return test ? 'This test has no hosted browser' : 'No browser';
  return pages.length === 0 ? 'No page is open' : '';
}

/** Since when the slot is in its state. */
export function slotSince({ test, waitsFor, since }: SlotView): number {
  return waitsFor === null && test ? test.startedAt : since;
}

export function slotTitle(slot: SlotView): string {
  return slot.test?.title ?? (slot.waitsFor === null ? 'No test' : 'Waiting for a browser');
}

/** @param leftMs until the test continues */
export function holdText(reason: string, leftMs: number): string {
  const sentence = reason === '' || /[.!?…]$/.test(reason) ? reason : `${reason}.`;
  return `${sentence || 'The test waits.'} It continues by itself in ${duration(leftMs)}.`;
}

const STATUSES: Record<string, string> = { timedOut: 'timed out' };

export function resultOf({ status, ok }: FinishedTest): string {
  const word = STATUSES[status] ?? status;
  return ok && status !== 'passed' && status !== 'skipped' ? `${word}, as expected` : word;
}

export function testFacts(test: FinishedTest): string {
  const { project, slot, retry, startedAt, endedAt } = test;
  return joined(
    resultOf(test),
    retry > 0 && `retry ${retry}`,
    project,
    `slot ${slot}`,
    `${((endedAt - startedAt) / 1_000).toFixed(1)} s`,
    new Date(endedAt).toLocaleTimeString(),
  );
}
