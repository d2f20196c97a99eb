import stringWidth from 'fast-string-width';
import { largest } from '../common/numbers/extremes.ts';
import { printable } from '../printable.ts';

/** Between two columns, and before the first one. */
const GAP = '   ';
const INDENT = ' ';

/** Prints rows as a table for a person, or the whole response as JSON. */
export function printRows(rows: Record<string, unknown>[], columns: string[], json: boolean | undefined): void {
  if (json) {
    printJson(rows);
    return;
  }
  process.stdout.write(rows.length === 0 ? 'none\n' : `${tableLines(rows, columns).join('\n')}\n`);
}

/** The rows below the names of their columns, each column as wide on a terminal as its widest cell. */
export function tableLines(rows: Record<string, unknown>[], columns: string[]): string[] {
  const cells = [columns, ...rows.map((row) => columns.map((column) => asCell(row[column])))];
  const widths = columns.map((_, n) => largest(cells.map((line) => stringWidth(line[n] ?? ''))));
  return cells.map((line) => `${INDENT}${line.map((cell, n) => padded(cell, widths[n] ?? 0)).join(GAP)}`.trimEnd());
}

/** One line for a person. */
export function printLine(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** One line for a program. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** A cell as one line. */
function asCell(value: unknown): string {
  return printable(String(value ?? '').replace(/\s*[\r\n]+\s*/g, ' '));
}

/** `padEnd` counts characters; some take two columns, or none. */
function padded(cell: string, width: number): string {
  return cell + ' '.repeat(width - stringWidth(cell));
}
