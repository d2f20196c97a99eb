import { pipeline, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createInflateRaw } from 'node:zlib';

type Chunks = AsyncIterable<Buffer>;
export type Decoding = (chunks: Chunks) => Chunks;

/** The content encodings that requests accept. */
export const ACCEPTED = 'gzip, deflate, br';

/*
 * As in Chromium, a body that ends early is what could be decoded of it, and all that follows the compressed data is
 * ignored: checksums, too.
 */
const inflated = through(() => createInflateRaw({ finishFlush: constants.Z_SYNC_FLUSH }));
const unbrotlied = through(() => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }));
const gunzipped: Decoding = (chunks) => inflated(withoutHead(chunks, sizeOfGzipHead));

const DECODINGS: ReadonlyMap<string, Decoding> = new Map([
  ['gzip', gunzipped],
  ['x-gzip', gunzipped],
  ['deflate', (chunks) => inflated(withoutHead(chunks, sizeOfZlibHead))],
  ['br', unbrotlied],
]);

/** Decodes a body. Null if it has no encoding, or one that is unknown: then it is passed on as it is. */
export function decodingOf(contentEncoding: string): Decoding | null {
  const names = contentEncoding.split(',').map((name) => name.trim().toLowerCase());
  const decodings = names.flatMap((name) => DECODINGS.get(name) ?? []);
  if (decodings.length < names.length) return null;
  return (chunks) => decodings.reduceRight((encoded, decode) => decode(encoded), chunks);
}

function through(create: () => Transform): Decoding {
  return (chunks) => pipeline(chunks, create(), () => undefined);
}

/** @param sizeOf the size of the head that data begins with; null if that is not known yet */
async function* withoutHead(chunks: Chunks, sizeOf: (data: Buffer) => number | null): Chunks {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of chunks) {
    head &&= Buffer.concat([head, chunk]);
    const size = head ? sizeOf(head) : 0;
    if (size === null) continue;
    yield head ? head.subarray(size) : chunk;
    head = null;
  }
}

/** @throws Error when it is not gzip */
function sizeOfGzipHead(data: Buffer): number | null {
  const magic = [0x1f, 0x8b, 8];
  if (magic.some((byte, at) => at < data.length && data[at] !== byte)) {
    throw Object.assign(new Error('incorrect header check'), { code: 'Z_DATA_ERROR' });
  }
  const flags = data[3] ?? 0;
  let size = 10;
  if (flags & 4) size += 2 + (data.length < 12 ? 0 : data.readUInt16LE(10));
  // Its name and a comment, each with a zero at its end.
  for (const flag of [8, 16]) {
    if (!(flags & flag)) continue;
    const end = data.indexOf(0, size);
    if (end === -1) return null;
    size = end + 1;
  }
  if (flags & 2) size += 2;
  return data.length < size ? null : size;
}

/** 0 for servers that send deflate without the head of zlib. */
function sizeOfZlibHead(data: Buffer): number | null {
  if (data.length < 2) return null;
  return ((data[0] ?? 0) & 15) === 8 && data.readUInt16BE(0) % 31 === 0 ? 2 : 0;
}
