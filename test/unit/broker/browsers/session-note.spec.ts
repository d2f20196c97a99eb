import { expect, test } from '@playwright/test';
import { parseNote, sessionNote } from '../../../../src/broker/browsers/session-note.ts';

const fields = {
  runId: 'gh-42.1',
  shard: { current: 2, total: 5 },
  project: 'stealth DE',
  slot: 3,
  request: 'ab12-7',
  suite: 'c0ffee',
  beat: new Date('2026-11-21T02:00:30Z'),
};
const END = 'req=ab12-7 suite=c0ffee beat=htarc';

test.describe('sessionNote', () => {
  test('names the owner of the session', () => {
    expect(sessionNote(fields, undefined)).toBe(`poolwright run=gh-42.1 shard=2/5 project=stealth_DE slot=3 ${END}`);
    expect(sessionNote({ ...fields, shard: null, project: '' }, undefined)).toBe(
      `poolwright run=gh-42.1 shard=1/1 project=default slot=3 ${END}`,
    );
  });

  test("starts with the user's own note", () => {
    expect(sessionNote(fields, 'nightly')).toMatch(/^nightly poolwright run=gh-42\.1 /);
  });

  test('never exceeds 256 characters, and always keeps the mark', () => {
    for (const [project, note] of [
      ['p'.repeat(400), undefined],
      ['p'.repeat(400), 'n'.repeat(256)],
      ['short', 'n'.repeat(256)],
    ] as const) {
      const result = sessionNote({ ...fields, project }, note);
      expect(result.length).toBeLessThanOrEqual(256);
      expect(result).toMatch(
        /(^| )poolwright run=gh-42\.1 shard=2\/5 project=\S+ slot=3 req=ab12-7 suite=c0ffee beat=htarc$/,
      );
      expect(parseNote(result)).toMatchObject({ runId: 'gh-42.1', request: 'ab12-7' });
    }
  });

  test('a written note parses to its fields', () => {
    expect(parseNote(sessionNote(fields, "somebody's own note"))).toEqual({
      runId: 'gh-42.1',
      shard: '2/5',
      project: 'stealth_DE',
      slot: 3,
      request: 'ab12-7',
      suite: 'c0ffee',
      beat: new Date('2026-11-21T02:00:00Z'),
    });
  });

  test('a foreign note does not parse', () => {
    for (const note of [
      null,
      undefined,
      '',
      'mine',
      'poolwright',
      'poolwright run=x shard=1/1',
      `${sessionNote(fields, '')} and more`,
    ]) {
      expect(parseNote(note)).toBeNull();
    }
  });
});
