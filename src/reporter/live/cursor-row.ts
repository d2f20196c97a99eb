const ESC = '\u001b';
/** Control sequences, line feeds and everything between them. */
const TOKEN = new RegExp(`${ESC}\\[([0-9;?]*)([@-~])|\\n|[^${ESC}\\n]+|${ESC}`, 'g');

/**
 * Follows by what is written to a terminal where its cursor is: not the column, but whether it is at rest below all that
 * was written, and whether its row is still empty. Reporters go up to rewrite a row, and come down again.
 */
export class CursorRow {
  /** Rows between the cursor and the row below everything. */
  #above = 0;
  #empty = false;

  /** `empty`: in an empty row below everything; `written`: in the last row, behind something; `away`: further up. */
  get place(): 'empty' | 'written' | 'away' {
    if (this.#above > 0) return 'away';
    return this.#empty ? 'empty' : 'written';
  }

  /** Takes in what is written. */
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
