import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import stringWidth from 'string-width';
import { printable } from '../../common/text/printable.ts';

/** Lines as they fit what they are printed on. */

/** Below this many columns a terminal breaks lines by itself. */
const LEAST_COLUMNS = 30;

type Style = 'bold' | 'dim' | 'red' | 'yellow';

/** What lines are printed on. */
export class Sheet {
  /** In columns; infinite where nobody sees columns. */
  readonly #width: number;
  readonly #colored: boolean;

  constructor({ width = Number.POSITIVE_INFINITY, colored = false }: { width?: number; colored?: boolean } = {}) {
    this.#width = width < LEAST_COLUMNS ? Number.POSITIVE_INFINITY : width;
    this.#colored = colored;
  }

  /** As wide as a terminal, in colours where it has some (`NO_COLOR`, `FORCE_COLOR` and `TERM` as Node reads them). */
  static of(stream: Partial<Pick<WriteStream, 'isTTY' | 'columns'>>, environment: NodeJS.ProcessEnv): Sheet {
    const mayColor = stream.isTTY === true || environment.FORCE_COLOR !== undefined;
    const colored = mayColor && WriteStream.prototype.hasColors(environment);
    return new Sheet(stream.isTTY === true && stream.columns ? { width: stream.columns, colored } : { colored });
  }

  /** A text as lines, broken at blanks; a command to copy (`npx …`) stays whole. @param indent of all lines but the first */
  text(given: string, indent: string, style?: Style): string[] {
    return this.#broken(given, indent).map((line) => this.#styled(line, style));
  }

  /** A text behind a label that is as wide as the indent of its further lines. */
  labelled(label: string, given: string): string[] {
    const indent = ' '.repeat(stringWidth(label));
    const [first = '', ...further] = this.#broken(`${indent}${given}`, indent);
    return [`${this.#styled(label, 'dim')}${first.slice(indent.length)}`, ...further];
  }

  /** One line; what is too much of it is cut off. */
  cut(label: string, given: string): string {
    const rest = printable(given);
    const room = this.#width - stringWidth(label);
    if (stringWidth(rest) <= room) return `${this.#styled(label, 'dim')}${rest}`;
    let kept = '';
    let width = 1; // of the ellipsis
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
    // What is written to may be no terminal: whether it takes colours is known already.
    return this.#colored && style !== undefined ? styleText(style, text) : text;
  }
}
