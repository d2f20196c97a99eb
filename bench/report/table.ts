/** A table of figures; the first column is text, the others are numbers. */
export interface Table {
  head: string[];
  rows: string[][];
}

/** The table as Markdown that is also to be read as it is: the columns are padded. */
export function drawTable({ head, rows }: Table): string {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => (row[column] ?? '').length)));
  const line = (cells: string[]) =>
    `| ${widths.map((width, column) => pad(cells[column] ?? '', width, column)).join(' | ')} |`;
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}

function pad(text: string, width: number, column: number): string {
  return column === 0 ? text.padEnd(width) : text.padStart(width);
}

/** What stands where a figure is not known. */
export const UNKNOWN = '–';

/** The number with so many decimals. */
export function decimals(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : UNKNOWN;
}
