import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { CursorRow } from './cursor-row.ts';

const ESC = '\u001b';
const SAVE_CURSOR = `${ESC}7`;
const RESTORE_CURSOR = `${ESC}8`;
const UP = `${ESC}[A`;
const DOWN = `${ESC}[B`;
/** Down in the same column, scrolling where there is no row below. */
const INDEX = `${ESC}D`;
const ERASE_FROM_HERE = `${ESC}[J`;

/** How the line is drawn and erased: beside the cursor in its empty row, or in the row below what others wrote. */
const DRAWING = {
  here: {
    draw: (line: string) => `${SAVE_CURSOR}${line}${RESTORE_CURSOR}`,
    erase: ERASE_FROM_HERE,
  },
  below: {
    draw: (line: string) => `${INDEX}${UP}${SAVE_CURSOR}${DOWN}\r${line}${RESTORE_CURSOR}`,
    // The cursor may stand before what others wrote: only the row below is ours.
    erase: `${SAVE_CURSOR}${DOWN}\r${ERASE_FROM_HERE}${RESTORE_CURSOR}`,
  },
};

/** How long the terminal has to be quiet before the line is drawn again, in ms. */
const QUIET_MS = 100;
/** On a smaller terminal there is no room for it. */
const LEAST_ROWS = 4;
const LEAST_COLUMNS = 20;

/**
 * One line at the end of a terminal's text that is in nobody's way: it vanishes before anything is written, is drawn again
 * below it, and leaves the cursor where it was. So others may write unfinished lines, and go up to rewrite what they
 * wrote: dots, progress, lists of running tests.
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

  /** Shows this line from now on; an empty one hides it. Characters that take one column each. */
  show(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    if (this.#timer === null) this.#draw();
  }

  /** Takes it away for good. */
  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#erase();
    for (const { unhook } of this.#hooks) unhook();
  }

  /** Something is about to be written: the line makes way, on the same stream, so that it does so in time. */
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
    const { place } = this.#cursor;
    // One that does not know its size has one of 0.
    if (this.#text === '' || place === 'away' || columns < LEAST_COLUMNS || rows < LEAST_ROWS) return;
    const cut = this.#text.slice(0, columns - 1);
    const line = this.#terminal.hasColors() ? styleText('dim', cut) : cut;
    this.#drawn = place === 'empty' ? 'here' : 'below';
    this.#hooks[0]?.write(DRAWING[this.#drawn].draw(line));
  }
}

type Write = (chunk: string | Uint8Array, ...rest: unknown[]) => boolean;

interface Hook {
  /** Writes without being noticed. */
  write: Write;
  unhook(): void;
}

/** Has `before` called with everything that is written to a stream. */
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
      // A later wrapper around ours stays in place.
      if (stream.write === hooked) stream.write = original;
    },
  };
}
