const ESC = '\u001b';
/** Control sequences, line feeds and everything between them. */
const TOKEN = new RegExp(`${ESC}\\[([0-9;?]*)([@-~])|\\n|[^${ESC}\\n]+|${ESC}`, 'g');

/**
 * Tracks the terminal's cursor from the written text: not its column, but whether it is below all text, and whether its
 * row is empty. Reporters move it up to rewrite a row, and down again.
 */
export class CursorRow {
  /** Rows between the cursor and the lowest row. */
  #above = 0;
  #empty = false;

  /** `empty`: in an empty row below all text; `written`: in the last row, after text; `away`: further up. */
  get place(): 'empty' | 'written' | 'away' {
    if (this.#above > 0) return 'away';
    return this.#empty ? 'empty' : 'written';
  }

  /** Processes written text. */
  feed(text: string): void {
    for (const [token, count, command] of text.matchAll(TOKEN)) {
      if (token === '\n') this.#lineFeed();
      else if (command === 'A' || command === 'F') this.#above += rows(count);
      else if (command === 'B' || command === 'E') this.#above = Math.max(0, this.#above - rows(count));
      else if (command === undefined && this.#above === 0 && token.trim() !== '') this.#empty = false;
    }
  }

  #lineFeed(): void {
    if (this.#above > 0) this.#above -= 1;
    else this.#empty = true;
  }
}

function rows(count: string | undefined): number {
  return Math.max(1, Number(count || 1) || 1);
}
