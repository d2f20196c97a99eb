import { relative } from 'node:path';
import type { TestInfo } from '@playwright/test';
import type { TestRecord } from '../../record/run-record.ts';

/** A test as `run.json` has it, at its end and before a reporter has the last word. */
export function testRecordOf(
  testInfo: TestInfo,
  startedAt: Date,
  observedBytes: number | null,
  infrastructureFailure: string | null,
): TestRecord {
  // Until its hooks and fixtures are over it has no final status: an error that it has already counts.
  const status = testInfo.status ?? (testInfo.errors.length > 0 ? 'failed' : 'passed');
  return {
    id: testInfo.testId,
    title: testInfo.titlePath.slice(1).join(' › '),
    file: relative(testInfo.config.rootDir, testInfo.file).replaceAll('\\', '/'),
    line: testInfo.line,
    project: testInfo.project.name,
    parallelIndex: testInfo.parallelIndex,
    retry: testInfo.retry,
    status,
    ok: status === testInfo.expectedStatus,
    startedAt: startedAt.toISOString(),
    endedAt: new Date().toISOString(),
    observedBytes,
    infrastructureFailure,
  };
}
