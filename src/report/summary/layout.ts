import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import stringWidth from 'fast-string-width';
import { printable } from '../../printable.ts';

/** Formats lines for the terminal. */

/** Below this many columns, lines are not wrapped here but by the terminal. */
const MIN_COLUMNS = 30;

type Style = 'bold' | 'dim' | 'red' | 'yellow';

/** A terminal, file or pipe to print on. */
export class Sheet {
  /** In columns; infinite if it is not a terminal. */
  readonly #width: number;
  readonly #colored: boolean;

  constructor({ width = Number.POSITIVE_INFINITY, colored = false }: { width?: number; colored?: boolean } = {}) {
    this.#width = width < MIN_COLUMNS ? Number.POSITIVE_INFINITY : width;
    this.#colored = colored;
  }

  /**
   * As wide as a terminal, with colors if it supports them (`NO_COLOR`, `FORCE_COLOR` and `TERM`, as Node reads them).
   */
  static of(stream: Partial<Pick<WriteStream, 'isTTY' | 'columns'>>, environment: NodeJS.ProcessEnv): Sheet {
    const mayColor = stream.isTTY === true || environment.FORCE_COLOR !== undefined;
    const colored = mayColor && WriteStream.prototype.hasColors(environment);
    return new Sheet(stream.isTTY === true && stream.columns ? { width: stream.columns, colored } : { colored });
  }

  /** Wraps a text at spaces; a command to copy (`npx …`) stays in one line. @param indent of all lines but the first */
  text(given: string, indent: string, style?: Style): string[] {
    return this.#broken(given, indent).map((line) => this.#styled(line, style));
  }

  /** A wrapped text after a label. Further lines are indented by the label's width. */
  labelled(label: string, given: string): string[] {
    const indent = ' '.repeat(stringWidth(label));
    const [first = '', ...further] = this.#broken(`${indent}${given}`, indent);
    return [`${this.#styled(label, 'dim')}${first.slice(indent.length)}`, ...further];
  }

  /** A single line, cut off at the right. */
  cut(label: string, given: string): string {
    const rest = printable(given);
    const room = this.#width - stringWidth(label);
    if (stringWidth(rest) <= room) return `${this.#styled(label, 'dim')}${rest}`;
    let kept = '';
    let width = 1; // for the ellipsis
    for (const character of rest) {
      width += stringWidth(character);
      if (width > room) break;
      kept += character;
    }
    return `${this.#styled(label, 'dim')}${kept}…`;
  }

  #broken(given: string, indent: string): string[] {
    const text = printable(given);
    if (stringWidth(text) <= this.#width) return [text];
    const lines: string[] = [];
    let line = /^ */.exec(text)?.[0] ?? '';
    let isEmpty = true;
    for (const [word] of text.matchAll(/npx .*$|\S+/g)) {
      const longer = isEmpty ? `${line}${word}` : `${line} ${word}`;
      if (isEmpty || stringWidth(longer) <= this.#width) line = longer;
      else {
        lines.push(line);
        line = `${indent}${word}`;
      }
      isEmpty = false;
    }
    return [...lines, line];
  }

  #styled(text: string, style: Style | undefined): string {
    // Without checking the stream: whether it supports colors is already known.
    return this.#colored && style !== undefined ? styleText(style, text) : text;
  }
}
