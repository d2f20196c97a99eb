import xterm from '@xterm/headless';

/** What is on a terminal, scrolled-off rows included. */
export interface Screen {
  /** Rows without the blanks at their end; no empty ones at the end. */
  lines: string[];
  /** Where the cursor is, counted from the first row that was ever written. */
  cursor: { row: number; column: number };
}

/** A terminal that shows what it is fed. */
export class TestTerminal {
  private readonly terminal: xterm.Terminal;

  constructor({ columns, rows }: { columns: number; rows: number }) {
    this.terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true });
  }

  async feed(text: string): Promise<void> {
    await new Promise<void>((resolve) => this.terminal.write(text, resolve));
  }

  get screen(): Screen {
    const { active } = this.terminal.buffer;
    const lines = Array.from(
      { length: active.length },
      (_, n) => active.getLine(n)?.translateToString().trimEnd() ?? '',
    );
    while (lines.at(-1) === '') lines.pop();
    return { lines, cursor: { row: active.baseY + active.cursorY, column: active.cursorX } };
  }
}
