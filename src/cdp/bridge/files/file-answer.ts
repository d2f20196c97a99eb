import { readdir, readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type BridgeOutcome, MAX_BODY_BYTES } from '../bridge-fetch.ts';
import { contentTypeOf } from './content-types.ts';

/** What a local browser would have of a `file:` address; null: there is no such file. Never rejects. */
export async function fileAnswer(url: string): Promise<BridgeOutcome | null> {
  try {
    const path = fileURLToPath(url);
    const found = await stat(path);
    if (found.isDirectory()) return answer(Buffer.from(await listing(path)), found.mtime, 'text/html; charset=utf-8');
    if (!found.isFile()) return { failure: 'AccessDenied', detail: 'it is neither a file nor a folder' };
    if (found.size > MAX_BODY_BYTES) {
      return { failure: 'Failed', detail: `the file is larger than ${MAX_BODY_BYTES / 1024 ** 2} MB` };
    }
    const content = await readFile(path);
    return answer(content, found.mtime, contentTypeOf(path, content));
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    // A path with a zero byte or an encoded slash is none of any file.
    if (/^(ENOENT|ENOTDIR|ENAMETOOLONG|ELOOP|ERR_INVALID_\w+)$/.test(code)) return null;
    return { failure: /^(EACCES|EPERM)$/.test(code) ? 'AccessDenied' : 'Failed', detail: message };
  }
}

function answer(body: Buffer, changedAt: Date, type: string): BridgeOutcome {
  const headers = [
    { name: 'Content-Type', value: type },
    { name: 'Last-Modified', value: changedAt.toUTCString() },
  ];
  return { status: 200, phrase: 'OK', headers, received: headers, body, rest: null };
}

/** As much of Chromium's own page about a folder as a test may look at: its title, and its links. */
async function listing(path: string): Promise<string> {
  const folder = path.endsWith('/') ? path : `${path}/`;
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const links = ['../', ...names].map((name) => {
    const href = encodeURI(folder + name).replace(/[?#]/g, encodeURIComponent);
    return `<li><a href="file://${escaped(href)}">${escaped(name)}</a></li>`;
  });
  return `<!doctype html><title>Index of ${escaped(folder)}</title><h1>Index of ${escaped(folder)}</h1><ul>${links.join('')}</ul>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
