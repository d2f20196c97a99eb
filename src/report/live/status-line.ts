import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';

const ESC = '\u001b';
const SAVE_CURSOR = `${ESC}7`;
const RESTORE_CURSOR = `${ESC}8`;
const UP = `${ESC}[A`;
const DOWN = `${ESC}[B`;
/** Down in the same column; scrolls at the last row. */
const INDEX = `${ESC}D`;
const ERASE_FROM_HERE = `${ESC}[J`;
/** Control sequences, line feeds and everything between them. */
const TOKEN = new RegExp(`${ESC}\\[([0-9;?]*)([@-~])|\\n|[^${ESC}\\n]+|${ESC}`, 'g');

/** How the line is drawn and erased: at the cursor in its empty row, or in the row below other output. */
const DRAWING = {
  here: {
    draw: (line: string) => `${SAVE_CURSOR}${line}${RESTORE_CURSOR}`,
    erase: ERASE_FROM_HERE,
  },
  below: {
    draw: (line: string) => `${INDEX}${UP}${SAVE_CURSOR}${DOWN}\r${line}${RESTORE_CURSOR}`,
    // The cursor may be in front of other output. Only the row below belongs to the line.
    erase: `${SAVE_CURSOR}${DOWN}\r${ERASE_FROM_HERE}${RESTORE_CURSOR}`,
  },
};

/** How long the terminal must be quiet before the line is drawn again, in ms. */
const QUIET_MS = 100;
/** A smaller terminal has no room for the line. */
const MIN_ROWS = 4;
const MIN_COLUMNS = 20;

/**
 * One line below a terminal's text that does not disturb other output: it disappears before anything is written, is
 * drawn again below, and leaves the cursor in its place. Reporters can therefore write unfinished lines, and move up to
 * rewrite their output.
 */
export class StatusLine {
  #text = '';
  #drawn: keyof typeof DRAWING | null = null;
  #timer: NodeJS.Timeout | null = null;
  readonly #cursor = new CursorRow();
  readonly #hooks: Hook[];
  readonly #terminal: WriteStream;

  /** @param terminal where it is drawn @param others streams that write to the same terminal */
  constructor(terminal: WriteStream, others: readonly WriteStream[]) {
    this.#terminal = terminal;
    this.#hooks = [terminal, ...others].map((stream) => hook(stream, (text, write) => this.#before(text, write)));
  }

  /** Shows this line from now on; an empty text hides it. Every character must take one column. */
  show(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    if (this.#timer === null) this.#draw();
  }

  /** Removes it permanently. */
  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#erase();
    for (const { unhook } of this.#hooks) unhook();
  }

  /** Called before something is written. Erases the line through the same stream, so that it happens in this order. */
  #before(text: string, write: Write): void {
    this.#erase(write);
    this.#cursor.feed(text);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#draw();
    }, QUIET_MS).unref();
  }

  #erase(write = this.#hooks[0]?.write): void {
    if (this.#drawn) write?.(DRAWING[this.#drawn].erase);
    this.#drawn = null;
  }

  #draw(): void {
    this.#erase();
    const { columns, rows } = this.#terminal;
    const { row } = this.#cursor;
    // A terminal of unknown size reports 0.
    if (this.#text === '' || row === 'away' || columns < MIN_COLUMNS || rows < MIN_ROWS) return;
    const cut = this.#text.slice(0, columns - 1);
    const line = this.#terminal.hasColors() ? styleText('dim', cut) : cut;
    this.#drawn = row === 'empty' ? 'here' : 'below';
    this.#hooks[0]?.write(DRAWING[this.#drawn].draw(line));
  }
}

type Write = (chunk: string | Uint8Array, ...rest: unknown[]) => boolean;

interface Hook {
  /** Writes without calling `before`. */
  write: Write;
  unhook(): void;
}

/** Calls `before` with everything that is written to a stream. */
function hook(stream: WriteStream, before: (text: string, write: Write) => void): Hook {
  const original = stream.write;
  const write: Write = original.bind(stream) as Write;
  let active = true;
  const hooked: Write = (chunk, ...rest) => {
    if (active) before(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8'), write);
    return write(chunk, ...rest);
  };
  stream.write = hooked;
  return {
    write,
    unhook: () => {
      active = false;
      // If another wrapper was added after ours, it stays in place.
      if (stream.write === hooked) stream.write = original;
    },
  };
}

/**
 * Tracks the terminal's cursor from the written text: not its column, but whether it is below all text, and whether its
 * row is empty. Reporters move it up to rewrite a row, and down again.
 */
class CursorRow {
  /** Rows between the cursor and the lowest row. */
  #above = 0;
  #empty = false;

  /** `empty`: in an empty row below all text; `written`: in the last row, after text; `away`: further up. */
  get row(): 'empty' | 'written' | 'away' {
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
