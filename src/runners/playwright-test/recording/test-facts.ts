import type { TestInfo } from '@playwright/test';
import type { TestFacts } from '../../../record/test-record.ts';

/** A test's data in its worker at its end, before a reporter can change the outcome. */
export function testFactsOf(testInfo: TestInfo, startedAt: Date): TestFacts {
  // Until its hooks and fixtures have ended, a test has no final status. An error so far counts as a failure.
  const status = testInfo.status ?? (testInfo.errors.length > 0 ? 'failed' : 'passed');
  return {
    id: testInfo.testId,
    titles: testInfo.titlePath.slice(1),
    file: testInfo.file,
    rootDir: testInfo.config.rootDir,
    line: testInfo.line,
    project: testInfo.project.name,
    parallelIndex: testInfo.parallelIndex,
    retry: testInfo.retry,
    status,
    ok: status === testInfo.expectedStatus,
    startedAt,
    endedAt: new Date(),
  };
}
