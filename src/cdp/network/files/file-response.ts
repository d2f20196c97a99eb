import { readdir, readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Failure } from '../proxy/failures.ts';
import { MAX_BODY_BYTES, type WholeResponse } from '../proxy/fetcher.ts';
import { contentTypeOf } from './content-types.ts';
import { directoryPage } from './directory-page.ts';

/** What a local browser shows for a `file:` address; null if there is no such file. Never rejects. */
export async function fileResponse(url: string): Promise<WholeResponse | Failure | null> {
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
