/** `poolwright/reporter`: the reporter, the schemas of `run.json` and of timings, and the timeline of a record. */
import { withFigures } from '../record/figures.ts';
import type { RunRecord } from '../record/run-record.ts';
import { timelineHtml } from './timeline/timeline-page.ts';

export type { Budget } from '../options/schema/reporter.ts';
export { type RunRecord, runRecord, type SessionRecord, type TestRecord } from '../record/run-record.ts';
export { default, type PoolwrightReporterOptions } from './reporter.ts';
export { timingsFile } from './shards/timings-file.ts';

/**
 * The timeline of a record: one HTML file that loads no other files. Its content security policy allows only its own
 * script and style.
 * @param report address of Playwright's HTML report, relative to the page (`../../playwright-report/index.html`); null:
 * none
 */
export function timelinePage(record: RunRecord, report: string | null = null): string {
  return timelineHtml(withFigures(record), report);
}
