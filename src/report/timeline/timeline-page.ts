import { readFileSync } from 'node:fs';
import { distFile } from '../../common/dist-file.ts';
import { pageFile } from '../../common/text/page-file.ts';
import type { RunWithFigures } from '../../record/figures.ts';
import type { TimelineData } from './data.ts';
import type { Section } from './sections.ts';
import * as sections from './sections.ts';
import { timelineData } from './timeline-data.ts';

/**
 * The timeline of a run: one HTML file that loads no other files. Its content security policy allows only its own
 * script and style.
 * @param report address of Playwright's HTML report relative to the page (`../../playwright-report/index.html`), or
 * null
 * @param given data of sections, which replaces what this run alone gives
 */
export function timelineHtml(run: RunWithFigures, report: string | null, given?: TimelineData['sections']): string {
  const script = readFileSync(distFile('timeline.js'), 'utf8');
  const style = readFileSync(distFile('timeline.css'), 'utf8');
  const body =
    '<main id="timeline"><noscript>This page needs JavaScript. Its data is in run.json in the same directory.</noscript></main>';
  const title = `poolwright timeline ${run.record.runId ?? ''}`;
  return pageFile({ title, style, script, body, data: timelineData(run, report, given ?? sectionsOf(run)) });
}

function sectionsOf({ record }: RunWithFigures): TimelineData['sections'] {
  return Object.fromEntries(Object.entries<Section>(sections).map(([name, section]) => [name, section(record)]));
}
