/** Headers in order, with values in wire text. */
export type HeaderList = readonly { name: string; value: string }[];

/** Headers by their names in lower case. */
export function byLowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The first value of a header. @param wanted its name, in lower case */
export function headerOf(headers: HeaderList, wanted: string): string | undefined {
  return headers.find(({ name }) => name.toLowerCase() === wanted)?.value;
}

/* Header values are bytes. Node's HTTP represents each byte as one character; this code calls that wire text. */

/**
 * The windows-1252 characters for bytes 0x80 to 0x9f. Node's decoder is not used: some versions leave these bytes
 * unchanged.
 */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Wire text of a value that Chromium sends as UTF-8: cookies, and values that Playwright sets. */
export function wireText(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1');
}

/** Wire text in the form of CDP's `Network.*ExtraInfo`. */
export function reportedText(wire: string): string {
  return wire.replace(/[\x80-\x9f]/g, (byte) => WINDOWS_1252[byte.charCodeAt(0) - 0x80] ?? byte);
}

/** Headers in wire text for CDP's `binaryResponseHeaders`: base64 of `name: value` parts that end in a zero byte. */
export function binaryHeaders(headers: HeaderList): string {
  const pieces = headers.map(({ name, value }) => `${name}: ${value}\0`);
  return Buffer.from(pieces.join(''), 'latin1').toString('base64');
}
