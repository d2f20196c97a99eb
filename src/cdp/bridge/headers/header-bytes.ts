/*
 * Values of headers are bytes. Node's HTTP takes and gives them as text with one character for each byte; here that is
 * called wire text.
 */

/** What windows-1252 has for the bytes 0x80 to 0x9f; not by Node's decoder, which in some versions leaves them alone. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Wire text of a value that Chromium sends as UTF-8: cookies, and what Playwright gives. */
export function wireText(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1');
}

/** Wire text as CDP's `Network.*ExtraInfo` has it. */
export function reportedText(wire: string): string {
  return wire.replace(/[\x80-\x9f]/g, (byte) => WINDOWS_1252[byte.charCodeAt(0) - 0x80] ?? byte);
}

/** Headers in wire text as CDP's `binaryResponseHeaders`: base64 of `name: value` pieces that end in a zero byte. */
export function binaryHeaders(headers: readonly { name: string; value: string }[]): string {
  const pieces = headers.map(({ name, value }) => `${name}: ${value}\0`);
  return Buffer.from(pieces.join(''), 'latin1').toString('base64');
}
