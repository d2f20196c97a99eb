import { readFileSync } from 'node:fs';
import type { JSONReport, JSONReportSuite, JSONReportTest } from '@playwright/test/reporter';
import { ATTACHMENT_NAME } from '../../src/record/test-record.ts';

/** A test in Playwright's JSON report. */
export interface ReportedTest {
  title: string;
  status: JSONReportTest['status'];
  attachments: { name: string; body?: string }[];
}

/** Every test of the report in this file. */
export function reportedTests(file: string): ReportedTest[] {
  const report: JSONReport = JSON.parse(readFileSync(file, 'utf8'));
  return report.suites.flatMap(testsOf);
}

function testsOf(suite: JSONReportSuite): ReportedTest[] {
  const own = suite.specs.flatMap(({ title, tests }) =>
    tests.map(({ status, results }) => ({ title, status, attachments: results.flatMap((each) => each.attachments) })),
  );
  return [...own, ...(suite.suites ?? []).flatMap(testsOf)];
}

/** The browser that poolwright says a test had. */
export function attachedBrowser({ attachments }: ReportedTest): { poolId: string | null } | null {
  const attachment = attachments.find(({ name }) => name === ATTACHMENT_NAME);
  return attachment ? JSON.parse(Buffer.from(attachment.body ?? '', 'base64').toString('utf8')) : null;
}
