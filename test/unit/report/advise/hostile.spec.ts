import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { adviceLines } from '../../../../src/cli/report/advise/text.ts';
import { withFigures } from '../../../../src/record/figures.ts';
import type { RunRecord } from '../../../../src/record/run-record.ts';
import { advise } from '../../../../src/report/advise/advise.ts';
import { pastRuns } from '../../../../src/report/advise/past/past-runs.ts';
import { adviceData, adviceOn } from '../../../../src/report/advise/timeline-section.ts';
import { timelineData } from '../../../../src/report/timeline/timeline-data.ts';
import { propertyRuns } from '../../../support/property-runs.ts';
import { aRecord, aSession, aTest } from '../../../support/unit/records.ts';
import { expectClean, expectShown, hostileRecord, hostileWholeRun } from '../hostile-records.ts';

/** Advice on records from untrusted sources. */

test('gives advice in clean lines when a record is hostile', () => {
  const property = fc.property(fc.array(hostileWholeRun, { minLength: 1, maxLength: 3 }), (records) => {
    const named = records.map((record, n) => ({ file: `${n}`, record: { ...record, runId: `${n}` } }));
    const { runs } = pastRuns(named);
    if (runs.length === 0) return;
    const wishes = { timeMs: 60_000, prices: { perHour: 1, perGb: 1 } };
    const advice = advise(runs, { ...wishes, draws: 2 });
    expectClean(adviceLines(advice, wishes));
    expectShown(timelineData(withFigures(named[0]?.record as RunRecord), null, { advice: adviceData(advice) }));
  });
  fc.assert(property, propertyRuns(100));
});

test('shows clean texts in the timeline when a record is hostile', () => {
  const property = fc.property(hostileRecord, (record) => {
    expectShown(timelineData(withFigures(record as RunRecord), null, { advice: adviceOn(record as RunRecord) }));
  });
  fc.assert(property, propertyRuns(300));
});

test('handles a session with more tests than a call may have arguments', () => {
  const tests = Array.from({ length: 130_000 }, (_, n) => aTest({ id: `${n}`, title: `test ${n}` }));
  const { runs } = pastRuns([{ file: 'run.json', record: aRecord({ sessions: [aSession({ tests })] }) }]);
  expect(runs).toHaveLength(1);
  expectClean(adviceLines(advise(runs, { draws: 1, shards: 1, limit: 2 }), {}));
});
