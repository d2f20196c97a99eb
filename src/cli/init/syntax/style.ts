/** The line ending of a text: that of its first line. */
export function eolOf(text: string): '\n' | '\r\n' {
  return /^[^\n]*\r\n/.test(text) ? '\r\n' : '\n';
}

/** The quotes that a text has more of. */
export function quoteOf(text: string): "'" | '"' {
  const [single, double] = ["'", '"'].map((quote) => text.split(quote).length - 1) as [number, number];
  return double > single ? '"' : "'";
}

/** The white space that a line begins with, for the line of an offset. */
export function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
}
