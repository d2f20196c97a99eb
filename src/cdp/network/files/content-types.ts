/** The types that Chromium assigns to files by extension. */
const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['apng', 'image/apng'],
  ['avif', 'image/avif'],
  ['bmp', 'image/bmp'],
  ['css', 'text/css'],
  ['csv', 'text/csv'],
  ['gif', 'image/gif'],
  ['htm', 'text/html'],
  ['html', 'text/html'],
  ['ico', 'image/x-icon'],
  ['jpeg', 'image/jpeg'],
  ['jpg', 'image/jpeg'],
  ['js', 'text/javascript'],
  ['json', 'application/json'],
  ['m4a', 'audio/x-m4a'],
  ['mht', 'multipart/related'],
  ['mhtml', 'multipart/related'],
  ['mjs', 'text/javascript'],
  ['mp3', 'audio/mpeg'],
  ['mp4', 'video/mp4'],
  ['oga', 'audio/ogg'],
  ['ogg', 'audio/ogg'],
  ['ogv', 'video/ogg'],
  ['otf', 'font/otf'],
  ['pdf', 'application/pdf'],
  ['png', 'image/png'],
  ['shtml', 'text/html'],
  ['svg', 'image/svg+xml'],
  ['text', 'text/plain'],
  ['ttf', 'font/ttf'],
  ['txt', 'text/plain'],
  ['wasm', 'application/wasm'],
  ['wav', 'audio/wav'],
  ['webm', 'video/webm'],
  ['webp', 'image/webp'],
  ['woff', 'font/woff'],
  ['woff2', 'font/woff2'],
  ['xht', 'application/xhtml+xml'],
  ['xhtml', 'application/xhtml+xml'],
  ['xml', 'text/xml'],
  ['zip', 'application/zip'],
]);

/** The beginning of a document that Chromium treats as HTML (the WHATWG's MIME sniffing). */
const HTML = /^\s*<(!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\s>]|^\s*<!--/i;
/** Bytes that do not occur in text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const BINARY = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/;
/** How much of a file is examined, in bytes. */
const SNIFFED_BYTES = 1_445;

/** The type of a file, by its extension or else its first bytes, as Chromium determines it for a local file. */
export function contentTypeOf(name: string, content: Buffer): string {
  const [, end = ''] = /\.([^./\\]+)$/.exec(name) ?? [];
  const known = CONTENT_TYPES.get(end.toLowerCase());
  if (known !== undefined) return known;
  const begins = content.toString('latin1', 0, SNIFFED_BYTES);
  if (HTML.test(begins.replace(/^\xef\xbb\xbf/, ''))) return 'text/html';
  if (begins.startsWith('<?xml')) return 'text/xml';
  if (begins.startsWith('%PDF-')) return 'application/pdf';
  return BINARY.test(begins) ? 'application/octet-stream' : 'text/plain';
}
