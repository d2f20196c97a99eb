import { appendFileSync } from 'node:fs';
import { errorMessage } from '../../common/error-message.ts';
import { printable } from '../../printable.ts';
import { movedBytes, type RunWithFigures, type TestTry } from '../../record/figures.ts';
import { figureRows } from './figure-rows.ts';
import { bytes, duration } from './format.ts';
import { headline, nameOf, problems } from './summary.ts';

/** Output for GitHub Actions: the job summary, and a warning for each problem with browsers. */

/** Appends to the job summary, and returns lines to print. Returns none outside GitHub Actions. */
export function reportToGitHub(run: RunWithFigures, notes: string[], environment: NodeJS.ProcessEnv): string[] {
  const lines: string[] = [];
  const { GITHUB_STEP_SUMMARY: file, GITHUB_ACTIONS: actions } = environment;
  if (file) {
    try {
      appendFileSync(file, summaryMarkdown(run, notes));
    } catch (error) {
      const reason = errorMessage(error);
      lines.push(printable(`poolwright: the summary could not be added to GITHUB_STEP_SUMMARY: ${reason}`));
    }
  }
  if (actions === 'true') {
    for (const problem of [...problems(run.figures), ...notes]) {
      lines.push(`::warning title=poolwright::${asData(problem)}`);
    }
  }
  return lines;
}

/** In workflow commands, a percent sign starts an escape sequence. */
function asData(text: string): string {
  return printable(text).replaceAll('%', '%25');
}

/** The summary as GitHub Markdown. @param notes on the budget */
function summaryMarkdown(run: RunWithFigures, notes: string[]): string {
  const { figures } = run;
  const trouble = [...problems(figures), ...notes];
  const rows = figureRows(run).map(({ label, value }) => [label, value]);
  return [
    `### ${escaped(headline(run))}`,
    rows.length > 0 ? table(['', ''], rows) : '',
    trouble.map((line) => `- ⚠️ ${escaped(line)}`).join('\n'),
    named('Slowest tests', figures.slowest, ({ durationMs }) => duration(durationMs)),
    named('Heaviest tests', figures.heaviest, (one) => bytes(movedBytes(one))),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n\n');
}

function named(title: string, tries: TestTry[], value: (one: TestTry) => string): string {
  if (tries.length === 0) return '';
  const rows = tries.map((one) => [value(one), nameOf(one)]);
  return `<details><summary>${title}</summary>\n\n${table(['', 'test'], rows)}\n\n</details>`;
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map(escaped).join(' | ')} |`;
  return [line(head), `|${head.map(() => ' --- |').join('')}`, ...rows.map(line)].join('\n');
}

/** Escapes everything that Markdown or HTML would interpret. */
function escaped(text: string): string {
  return printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('$', '&#36;') // GitHub renders text between two of them as a formula
    .replace(/[\\`*_[\]|#@~]/g, '\\$&')
    .replace(/\s+/g, ' ');
}
