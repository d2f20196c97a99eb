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
import { contentTypeOf } from './content-types.ts';

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
