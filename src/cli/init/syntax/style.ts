import type { Parsed, Statement } from './parse.ts';
import { span } from './parse.ts';

/** How a file is written, so that new lines look like the others. */
export interface Style {
  eol: '\n' | '\r\n';
  quote: "'" | '"';
  /** `;`, or nothing. */
  end: ';' | '';
}

/** As the majority of the file's lines; `like` decides on quotes and semicolons where it has any. */
export function styleOf({ text, program }: Parsed, like?: Statement): Style {
  const near = like === undefined ? '' : text.slice(...span(like));
  const ends = program.body.filter((each) => MAY_END.test(each.type)).map((each) => text[span(each)[1] - 1] === ';');
  return {
    eol: eolOf(text),
    quote: quoteOf(near) ?? quoteOf(text) ?? "'",
    end: ends.filter((each) => each).length * 2 >= ends.length ? ';' : '',
  };
}

/** Statements that end with a semicolon where a file has them. */
const MAY_END = /^(Import|Export(Default|Named)|Variable)Declaration$|^ExpressionStatement$/;

/** The line ending of a text: that of its first line. */
export function eolOf(text: string): '\n' | '\r\n' {
  return /^[^\n]*\r\n/.test(text) ? '\r\n' : '\n';
}

function quoteOf(text: string): "'" | '"' | undefined {
  const [single, double] = ["'", '"'].map((quote) => text.split(quote).length - 1) as [number, number];
  if (single === double) return undefined;
  return single > double ? "'" : '"';
}

/** The white space that a line begins with, for the line of an offset. */
export function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}
