import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';

/** The bytes of a file, or of a file in an archive: `report.zip!resources/trace.zip!trace.trace`. */
export interface UnpackedFile {
  path: string;
  bytes: Buffer;
}

/** All files in a directory, archives and those in data URLs unpacked, at any depth. */
export async function unpackedFiles(directory: string, isOwn: (path: string) => boolean): Promise<UnpackedFile[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const files = await Promise.all(
    paths.filter(isOwn).map(async (path) => await unpacked({ path, bytes: await readFile(path) })),
  );
  return files.flat();
}

async function unpacked(file: UnpackedFile): Promise<UnpackedFile[]> {
  const { path, bytes } = file;
  if (bytes.subarray(0, 4).toString('latin1') === 'PK\x03\x04') {
    const inside = await filesOf(path, bytes);
    return [file, ...(await Promise.all(inside.map(unpacked))).flat()];
  }
  const embedded = [...bytes.toString('latin1').matchAll(/data:[\w/+.-]+;base64,([\w+/=]+)/g)];
  const inside = embedded.map(([, data = ''], n) => ({ path: `${path}#${n}`, bytes: Buffer.from(data, 'base64') }));
  return [file, ...(await Promise.all(inside.map(unpacked))).flat()];
}

async function filesOf(path: string, bytes: Buffer): Promise<UnpackedFile[]> {
  const zip = await fromBufferPromise(bytes, { lazyEntries: true });
  const files: UnpackedFile[] = [];
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    const content = await buffer(await zip.openReadStreamPromise(entry));
    files.push({ path: `${path}!${entry.fileName}`, bytes: content });
  }
  return files;
}
