import { randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { posix, win32 } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { BrowserCommands } from '../../transport/interceptor.ts';
import { byLowerCase } from '../headers/header-list.ts';
import { type ContinueFields, type PausedRequest, responseCommand } from '../request/paused-request.ts';
import type { Failure } from '../send/failures.ts';
import { MAX_BODY_BYTES, type WholeResponse } from '../send/fetcher.ts';
import type { ProxiedTraffic } from '../send/proxied-traffic.ts';

/** An address of a file that does not exist: the browser itself then reports that it is not found. */
const MISSING = `file:///poolwright-${randomUUID()}`;

/** The browser denies these after the point where it pauses requests, before it reads the file. */
function needsLeave({ headers, resourceType }: PausedRequest): boolean {
  return /^(XHR|Fetch)$/.test(resourceType) || 'origin' in byLowerCase(headers);
}

/** Gives the browser files of this machine. */
export class ProxiedFiles {
  readonly #commands: BrowserCommands;
  readonly #traffic: ProxiedTraffic | undefined;

  constructor(commands: BrowserCommands, traffic: ProxiedTraffic | undefined) {
    this.#commands = commands;
    this.#traffic = traffic;
  }

  /** Never rejects. @param changes made by the client */
  async proxy(paused: PausedRequest, changes: ContinueFields): Promise<void> {
    const { sessionId, requestId, url } = paused;
    if (needsLeave(paused)) {
      this.#commands.post('Fetch.continueRequest', { requestId }, sessionId);
      return;
    }
    const outcome = await fileResponse(typeof changes.url === 'string' ? changes.url : url);
    if (outcome === null) {
      this.#commands.post('Fetch.continueRequest', { requestId, url: MISSING }, sessionId);
      return;
    }
    if (!('failure' in outcome)) this.#traffic?.receive(outcome.body.length);
    const [method, params] = responseCommand(requestId, outcome);
    this.#commands.post(method, params, sessionId);
  }
}

/** What a local browser shows for a `file:` address; null if there is no such file. Never rejects. */
async function fileResponse(url: string): Promise<WholeResponse | Failure | null> {
  try {
    const path = fileURLToPath(url);
    const found = await stat(path);
    if (found.isDirectory()) {
      const entries = await readdir(path, { withFileTypes: true });
      return whole(Buffer.from(directoryPage(path, entries)), found.mtime, 'text/html; charset=utf-8');
    }
    if (!found.isFile()) return { failure: 'AccessDenied', detail: 'it is neither a file nor a directory' };
    if (found.size > MAX_BODY_BYTES) {
      return { failure: 'Failed', detail: `the file is larger than ${MAX_BODY_BYTES / 1024 ** 2} MB` };
    }
    const content = await readFile(path);
    return whole(content, found.mtime, contentTypeOf(path, content));
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    // A path with a zero byte or an encoded slash is not a file.
    if (/^(ENOENT|ENOTDIR|ENAMETOOLONG|ELOOP|ERR_INVALID_\w+)$/.test(code)) return null;
    return { failure: /^(EACCES|EPERM)$/.test(code) ? 'AccessDenied' : 'Failed', detail: message };
  }
}

function whole(body: Buffer, changedAt: Date, type: string): WholeResponse {
  const headers = [
    { name: 'Content-Type', value: type },
    { name: 'Last-Modified', value: changedAt.toUTCString() },
  ];
  return { status: 200, phrase: 'OK', headers, body };
}

/** The parts of Chromium's own directory page that a test may check: its title and links. */
export function directoryPage(
  path: string,
  entries: readonly Pick<Dirent, 'name' | 'isDirectory'>[],
  windows = process.platform === 'win32',
): string {
  const { sep } = windows ? win32 : posix;
  const directory = path.endsWith(sep) ? path : path + sep;
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const addressOf = (name: string) => pathToFileURL(directory + name, { windows }).href;
  const links = names.map((name) => link(addressOf(name), name));
  links.unshift(link(new URL('..', addressOf('')).href, '../'));
  return `<!doctype html><title>Index of ${escaped(directory)}</title><h1>Index of ${escaped(directory)}</h1><ul>${links.join('')}</ul>`;
}

function link(href: string, name: string): string {
  return `<li><a href="${escaped(href)}">${escaped(name)}</a></li>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

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
