import { printable } from '../../common/text/printable.ts';
import { movedBytes, type RunWithFigures, type TestTry } from '../../record/figures.ts';
import { figureRows } from './figure-rows.ts';
import { bytes, duration } from './format.ts';
import { headline, nameOf, problems } from './summary.ts';

/** The summary as GitHub Markdown. @param notes on the budget */
export function summaryMarkdown(run: RunWithFigures, notes: string[]): string {
  const { figures } = run;
  const trouble = [...problems(figures), ...notes];
  return [
    `### ${escaped(headline(run))}`,
    table(
      ['', ''],
      figureRows(run).map(({ label, value }) => [label, value]),
    ),
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
