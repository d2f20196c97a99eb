import type { TimelineData, TimelineTest } from '../data.ts';

/** How results look: colours that colour-blind people can tell apart, a pattern and a mark beside them. */

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

/** The result in words. */
export function resultOf(test: TimelineTest, data: TimelineData): string {
  const look = lookOf(test, data);
  const asExpected = look === 'passed' && data.statuses[test[3]] !== 'passed';
  return asExpected ? 'failed, as expected' : LOOKS[look].word;
}

/** Ends that want a look, and the mark each has. */
const MARKED_ENDS: Record<string, string> = {
  lost: '✕',
  'worker-died': '✕',
  'broker-died': '✕',
  'connect-failed': '✕',
  expired: '↻',
  'rolled-over': '↻',
};

/** Empty for an end that was to be expected. */
export function endMark(reason: string): string {
  return MARKED_ENDS[reason] ?? '';
}
