import type { FinishedTest, SlotView } from '../../broker/watch/view.ts';
import type { Run } from './store.ts';

/** The page's texts about runs, slots and tests. */

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

const RUNNERS: Record<string, string> = {
  playwright: 'Playwright Test',
  vitest: 'Vitest',
  jest: 'Jest',
  mocha: 'Mocha',
  'node-test': 'node:test',
  exec: 'poolwright exec',
};

export function runTime({ startedAt, endedAt }: Run, now: number): string {
  return endedAt === null ? `running for ${duration(now - startedAt)}` : `ended after ${duration(endedAt - startedAt)}`;
}

export function runFacts({ runner, startedAt, pictureBytes }: Run): string {
  return joined(
    runner === null ? 'script' : (RUNNERS[runner] ?? runner),
    `began ${new Date(startedAt).toLocaleTimeString()}`,
    pictureBytes > 0 && `pictures so far: ${bytes(pictureBytes)}`,
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
  between: 'idle',
  free: 'free',
};

export function slotState(slot: SlotView): string {
  return STATES[stateOf(slot)];
}

/** Shown instead of a picture. */
export function missingPicture({ waitsFor, sessionId, pages, test }: SlotView): string {
  if (waitsFor !== null) return sentence(waitsFor);
  if (sessionId === null) return test ? 'This test has no hosted browser.' : 'No browser';
  return pages.length === 0 ? 'No page is open' : 'No picture yet';
}

/** @param text as for the terminal: no capital letter, no full stop */
function sentence(text: string): string {
  const start = text.slice(0, 1).toUpperCase() + text.slice(1);
  return text === '' || /[.!?…]$/.test(text) ? start : `${start}.`;
}

/** Whether it is the address of a page without content: the browser's first page is one. */
export function isEmptyPage(url: string): boolean {
  return url === '' || url === 'about:blank';
}

/** For a small space. */
export function shortAddress(url: string): string {
  return url.replace(/^https?:\/\/(www\.)?/, '');
}

/** Since when the slot is in its state. */
export function slotSince({ test, waitsFor, since }: SlotView): number {
  return waitsFor === null && test ? test.startedAt : since;
}

export function slotTitle(slot: SlotView): string {
  if (slot.test) return slot.test.title;
  if (slot.waitsFor !== null) return 'Waiting for a browser';
  return slot.sessionId === null ? 'No browser' : 'Between tests';
}

/** Why a test waits. */
export function holdReason(reason: string): string {
  return sentence(reason) || 'The test waits.';
}

const STATUSES: Record<string, string> = { timedOut: 'timed out' };

export function resultOf({ status, ok }: FinishedTest): string {
  const word = STATUSES[status] ?? status;
  return ok && status !== 'passed' && status !== 'skipped' ? `${word}, as expected` : word;
}

export function testFacts(test: FinishedTest): string {
  const { project, slot, retry, startedAt, endedAt } = test;
  const facts = [
    resultOf(test),
    retry > 0 ? `retry ${retry}` : '',
    project,
    `slot ${slot}`,
    `${((endedAt - startedAt) / 1_000).toFixed(1)} s`,
    new Date(endedAt).toLocaleTimeString(),
  ];
  // A line breaks between them only.
  return joined(...facts.map((fact) => fact.replaceAll(' ', '\u00a0')));
}
