import type { TestInfo } from '@playwright/test';
import type { TestFacts } from '../../record/test-record.ts';

/** A test as its worker knows it, at its end and before a reporter has the last word. */
export function testFactsOf(testInfo: TestInfo, startedAt: Date): TestFacts {
  // Until its hooks and fixtures are over it has no final status: an error that it has already counts.
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
