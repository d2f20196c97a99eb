import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { html, raw } from 'hono/html';
import type { Advice } from '../../advise/advise.ts';
import { distFile } from '../../common/dist-file.ts';
import type { RunWithFigures } from '../../record/figures.ts';
import { adviceOn } from './advice-data.ts';
import { timelineData } from './timeline-data.ts';

/**
 * The timeline of a run: one HTML file that loads nothing. Its policy lets only its own script and style run.
 * @param report address of Playwright's HTML report, seen from the page (`../../playwright-report/index.html`); null: none
 * @param advice on runs with other numbers of browsers; default: what this run alone tells
 */
export function timelineHtml(
  run: RunWithFigures,
  report: string | null,
  advice: Advice | null = adviceOn(run.record),
): string {
  const script = readFileSync(distFile('timeline.js'), 'utf8');
  const style = readFileSync(distFile('timeline.css'), 'utf8');
  const policy = `default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>poolwright timeline ${run.record.runId ?? ''}</title>
<link rel="icon" href="data:,">
<style>${raw(style)}</style>
</head>
<body>
<main id="timeline"><noscript>This page draws its timeline with a script; the figures are in run.json beside it.</noscript></main>
<script type="application/json" id="data">${raw(inScript(JSON.stringify(timelineData(run, report, advice))))}</script>
<script>${raw(script)}</script>
</body>
</html>
`;
  return String(page);
}

/** JSON that no parser of HTML can take for markup. */
function inScript(json: string): string {
  return json.replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

function hashOf(content: string): string {
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
}
