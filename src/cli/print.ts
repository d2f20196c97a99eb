import Table from 'cli-table3';

/** Prints rows as a table for a person, or the whole answer as JSON. */
export function printRows(rows: Record<string, unknown>[], columns: string[], json: boolean | undefined): void {
  if (json) {
    printJson(rows);
    return;
  }
  const table = new Table({
    head: columns,
    style: { head: [], border: [], compact: true },
    chars: {
      top: '',
      'top-mid': '',
      'top-left': '',
      'top-right': '',
      bottom: '',
      'bottom-mid': '',
      'bottom-left': '',
      'bottom-right': '',
      left: '',
      'left-mid': '',
      mid: '',
      'mid-mid': '',
      right: '',
      'right-mid': '',
      middle: ' ',
    },
  });
  for (const row of rows) table.push(columns.map((column) => String(row[column] ?? '')));
  process.stdout.write(`${table.toString()}\n`);
}

/** One line for a program. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
