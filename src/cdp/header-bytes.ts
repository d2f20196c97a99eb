/*
 * Values of headers are bytes. Node's HTTP takes and gives them as text with one character for each byte; here that is
 * called wire text.
 */

const windows1252 = new TextDecoder('windows-1252');

/** Wire text of a value that Chromium sends as UTF-8: cookies, and what Playwright gives. */
export function wireText(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1');
}

/** Wire text as CDP's `Network.*ExtraInfo` has it. */
export function reportedText(wire: string): string {
  return windows1252.decode(Buffer.from(wire, 'latin1'));
}

/** Headers in wire text as CDP's `binaryResponseHeaders`: base64 of `name: value` pieces that end in a zero byte. */
export function binaryHeaders(headers: readonly { name: string; value: string }[]): string {
  const pieces = headers.map(({ name, value }) => `${name}: ${value}\0`);
  return Buffer.from(pieces.join(''), 'latin1').toString('base64');
}
