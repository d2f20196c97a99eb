import { expect, test } from '@playwright/test';
import { reliabilityPage } from '../../../scripts/faults-report.mjs';

/** The page about random runs shows every result. */

const result = (run: number, at: number, more: object = {}) => ({
  ...{ kind: 'stub', run, setSeed: 9, commit: 'abc1234', ok: true, at, ms: 1_000, traits: ['two runs'] },
  ...{ blow: 'signal: SIGKILL to the machine', struck: true, left: [], touched: [], error: null },
  ...{ judged: 'after the run', ...more },
});

test('a red result stays, with its cause, when the run is green later', () => {
  const results = [
    result(1, 0),
    result(2, 1_000, { ok: false, left: ['session ses_1 ()'], judged: 'after poolwright sweep' }),
    result(2, 9_000),
  ];
  const asked = { stub: 2, chromium: 0, provider: 0 };
  const page = reliabilityPage({ results, command: 'command', seed: 9, asked });
  expect(page).toContain('2 of the 2 runs of the set, 1970-01-01,');
  expect(page).toContain('of commit abc1234.');
  expect(page).toContain('3 results, 1 of them red:');
  expect(page).toMatch(/\| `CHAOS_SEED=9 .* --only 2` \| abc1234 \| .* \| session ses_1 \(\) \| green at abc1234 \|/);
  expect(page).toContain('1 of 3 results were judged after a sweep.');
  expect(page).toContain('| stub browsers | 2 | 3 | 9 | 1 | 1 | 0 |');
});

test('results of several commits name each', () => {
  const results = [result(1, 0), result(2, 1_000, { commit: 'def5678-dirty' })];
  const page = reliabilityPage({ results, command: 'command', seed: 9, asked: { stub: 2, chromium: 0, provider: 0 } });
  expect(page).toContain('2 states of the code: abc1234 (1 results), def5678-dirty (1 results)');
  expect(page).toContain('2 results, 0 of them red.');
});
