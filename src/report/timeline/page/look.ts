import type { TimelineData, TimelineTest } from '../data.ts';

/** The look of results: colors that color-blind people can distinguish, a pattern and a mark. */

export type Look = 'passed' | 'failed' | 'timed-out' | 'skipped' | 'interrupted' | 'lost';

export const LOOKS: Record<Look, { word: string; mark: string }> = {
  passed: { word: 'passed', mark: '' },
  failed: { word: 'failed', mark: '✕' },
  'timed-out': { word: 'timed out', mark: 'T' },
  skipped: { word: 'skipped', mark: '–' },
  interrupted: { word: 'interrupted', mark: '‖' },
  lost: { word: 'browser lost', mark: '!' },
};

const OF_STATUS: Record<string, Look> = {
  passed: 'passed',
  failed: 'failed',
  timedOut: 'timed-out',
  skipped: 'skipped',
  interrupted: 'interrupted',
};

export function lookOf([, , , status, ok, , , , , , , , lost]: TimelineTest, data: TimelineData): Look {
  if (lost !== null && ok === 0) return 'lost';
  const look = OF_STATUS[data.statuses[status] ?? ''] ?? 'interrupted';
  return ok === 1 && look !== 'skipped' ? 'passed' : look;
}

export function resultOf(test: TimelineTest, data: TimelineData): string {
  const look = lookOf(test, data);
  const asExpected = look === 'passed' && data.statuses[test[3]] !== 'passed';
  return asExpected ? 'failed, as expected' : LOOKS[look].word;
}

/** How the tests of the run ended, each by its last try, as text. */
export function tallyOf(data: TimelineData): string {
  const last = new Map<string, TimelineTest>();
  for (const test of data.tests) {
    const [, , , , , retry, , , , , id] = test;
    if (retry >= (last.get(id)?.[5] ?? 0)) last.set(id, test);
  }
  const counts = new Map<string, number>();
  const count = (word: string) => counts.set(word, (counts.get(word) ?? 0) + 1);
  for (const test of last.values()) {
    const look = lookOf(test, data);
    count(look === 'passed' && test[5] > 0 ? 'flaky' : LOOKS[look].word);
  }
  const words = ['passed', 'flaky', ...Object.values(LOOKS).map(({ word }) => word)];
  const parts = [...new Set(words)].flatMap((word) => (counts.has(word) ? `${counts.get(word)} ${word}` : []));
  return `${last.size} ${last.size === 1 ? 'test' : 'tests'}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`;
}

/** Ends that deserve attention, with their marks. */
const MARKED_ENDS: Record<string, string> = {
  lost: '✕',
  'worker-died': '✕',
  'broker-died': '✕',
  'connect-failed': '✕',
  expired: '↻',
  'rolled-over': '↻',
};

/** Empty for an expected end. */
export function endMark(reason: string): string {
  return MARKED_ENDS[reason] ?? '';
}
