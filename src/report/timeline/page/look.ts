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

/** The result as text. */
export function resultOf(test: TimelineTest, data: TimelineData): string {
  const look = lookOf(test, data);
  const asExpected = look === 'passed' && data.statuses[test[3]] !== 'passed';
  return asExpected ? 'failed, as expected' : LOOKS[look].word;
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
