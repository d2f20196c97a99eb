import { readdir, readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type BridgeFailure, MAX_BODY_BYTES, type WholeAnswer } from '../requests/bridge-fetch.ts';
import { contentTypeOf } from './content-types.ts';
import { folderPage } from './folder-page.ts';

/** What a local browser would have of a `file:` address; null: there is no such file. Never rejects. */
export async function fileAnswer(url: string): Promise<WholeAnswer | BridgeFailure | null> {
  try {
    const path = fileURLToPath(url);
    const found = await stat(path);
    if (found.isDirectory()) {
      const entries = await readdir(path, { withFileTypes: true });
      return answer(Buffer.from(folderPage(path, entries)), found.mtime, 'text/html; charset=utf-8');
    }
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

function answer(body: Buffer, changedAt: Date, type: string): WholeAnswer {
  const headers = [
    { name: 'Content-Type', value: type },
    { name: 'Last-Modified', value: changedAt.toUTCString() },
  ];
  return { status: 200, phrase: 'OK', headers, body };
}
