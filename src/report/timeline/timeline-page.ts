import { readFileSync } from 'node:fs';
import { distFile } from '../../common/dist-file.ts';
import { pageFile } from '../../common/text/page-file.ts';
import type { RunWithFigures } from '../../record/figures.ts';
import { timelineData } from './timeline-data.ts';

/**
 * The timeline of a run: one HTML file that loads no other files. Its content security policy allows only its own
 * script and style.
 * @param report address of Playwright's HTML report relative to the page (`../../playwright-report/index.html`), or
 * null
 */
export function timelineHtml(run: RunWithFigures, report: string | null): string {
  const script = readFileSync(distFile('timeline.js'), 'utf8');
  const style = readFileSync(distFile('timeline.css'), 'utf8');
  const body =
    '<main id="timeline"><noscript>This page needs JavaScript. Its data is in run.json in the same directory.</noscript></main>';
  const title = `poolwright timeline ${run.record.runId ?? ''}`;
  return pageFile({ title, style, script, body, data: timelineData(run, report) });
}
