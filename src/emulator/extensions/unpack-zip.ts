import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { errorMessage } from '../../common/error-message.ts';
import { ApiError } from '../api-error.ts';

/** Limits on the content of a ZIP; real extensions are far below. */
export const ZIP_LIMITS = {
  entries: 10_000,
  /** Bytes of all files together. */
  bytes: 512 * 1024 * 1024,
  /** Unpacked bytes for each packed one; counted from `ratioFrom` bytes on, because small files may be all blanks. */
  ratio: 100,
  ratioFrom: 10 * 1024 * 1024,
} as const;

const FILE_TYPE = 0o170000;
const REGULAR = 0o100000;
const DIRECTORY = 0o040000;

/**
 * Unpacks a ZIP from someone else into an empty directory.
 * @throws ApiError 400 if it is not a ZIP, has a path outside the directory or a link, or is too large when unpacked
 */
export async function unpackZip(zip: Buffer, directory: string): Promise<void> {
  let file: ZipFile | undefined;
  try {
    // The library refuses absolute names, `..` in them, and files of another size than they say.
    file = await fromBufferPromise(zip, { lazyEntries: true });
    await unpackEntries(file, zip.length, directory);
  } catch (error) {
    if (error instanceof ApiError || isDiskError(error)) throw error;
    refuse(`not a ZIP file that can be unpacked: ${errorMessage(error)}`);
  } finally {
    file?.close();
  }
}

async function unpackEntries(file: ZipFile, packedBytes: number, directory: string): Promise<void> {
  if (file.entryCount > ZIP_LIMITS.entries) refuse(`more than ${ZIP_LIMITS.entries} files`);
  let bytes = 0;
  for await (const entry of file.eachEntry()) {
    const { fileName } = entry;
    if (fileName.startsWith('__MACOSX/')) continue; // what a Mac adds, and Chromium refuses
    bytes += entry.uncompressedSize;
    checkSize(bytes, packedBytes);
    checkKind(entry);
    const target = resolve(directory, fileName);
    if (!target.startsWith(directory + sep)) refuse(`leads out of its directory: ${fileName}`);
    if (fileName.endsWith('/')) await makeDirectory(target, fileName);
    else await unpackFile(file, entry, target);
  }
}

/** The sizes that the directory states are the sizes that are unpacked: the library ends at the first byte too many. */
function checkSize(bytes: number, packedBytes: number): void {
  if (bytes > ZIP_LIMITS.bytes) refuse(`more than ${ZIP_LIMITS.bytes} bytes when unpacked`);
  if (bytes > ZIP_LIMITS.ratioFrom && bytes > packedBytes * ZIP_LIMITS.ratio) {
    refuse(`more than ${ZIP_LIMITS.ratio} times as large when unpacked`);
  }
}

function checkKind(entry: Entry): void {
  if (entry.isEncrypted()) refuse(`encrypted: ${entry.fileName}`);
  // The upper half is the file's mode where the ZIP was made on Unix, and 0 elsewhere.
  const type = (entry.externalFileAttributes >>> 16) & FILE_TYPE;
  if (type !== 0 && type !== REGULAR && type !== DIRECTORY) refuse(`a link, or no file at all: ${entry.fileName}`);
}

async function unpackFile(file: ZipFile, entry: Entry, target: string): Promise<void> {
  await makeDirectory(dirname(target), entry.fileName);
  const source = await file.openReadStreamPromise(entry);
  try {
    await pipeline(source, createWriteStream(target, { flags: 'wx', mode: 0o644 }));
  } catch (error) {
    throw isTwice(error) ? twice(entry.fileName) : error;
  }
}

async function makeDirectory(path: string, fileName: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    throw isTwice(error) ? twice(fileName) : error;
  }
}

function isTwice(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'EEXIST' || code === 'ENOTDIR' || code === 'EISDIR';
}

/** Whether the disk failed. All other errors, such as an impossible file name, are errors of the ZIP. */
function isDiskError(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EACCES', 'EPERM', 'EIO', 'EROFS', 'EMFILE', 'ENFILE'].includes(codeOf(error) ?? '');
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

function twice(fileName: string): ApiError {
  return new ApiError(400, `extension: the same name twice: ${fileName}`);
}

function refuse(problem: string): never {
  throw new ApiError(400, `extension: ${problem}`);
}
