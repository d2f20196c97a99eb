import xterm from '@xterm/headless';

/** The content of a terminal, including rows that scrolled off. */
export interface Screen {
  /** Rows without trailing blanks; no empty rows at the end. */
  lines: string[];
  /** Position of the cursor, counted from the first row ever written. */
  cursor: { row: number; column: number };
}

/** A terminal that shows the output it receives. */
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
