import type { MiddlewareHandler } from 'hono';
import { ApiError } from '../api-error.ts';
import type { ApiEnv } from '../http.ts';

/**
 * How much of a body that is too large is read and dropped. Who is still sending when the connection closes never sees
 * the response; who sends more than this does not care.
 */
const MAX_DROPPED_BYTES = 256 * 1024 ** 2;

/** Refuses bodies of more than `maxBytes` with a 400 that says `problem`; what is refused is not kept in memory. */
export function limitBody(maxBytes: number, problem: string): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const { body } = c.req.raw;
    const isChunked = c.req.header('Transfer-Encoding') !== undefined;
    const declared = isChunked ? undefined : c.req.header('Content-Length');
    if (!body || Number(declared) <= maxBytes) return await next();
    // Of a body that says how large it is, nothing is needed; of one that does not, all.
    const bytes = await readUpTo(declared === undefined ? maxBytes : 0, body);
    if (!bytes) throw new ApiError(400, problem);
    c.req.raw = new Request(c.req.raw, { body: bytes });
    await next();
  };
}

/** Undefined for more than `maxBytes`. */
async function readUpTo(maxBytes: number, body: AsyncIterable<Uint8Array>): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
    if (bytes > maxBytes + MAX_DROPPED_BYTES) break;
  }
  return bytes <= maxBytes ? Buffer.concat(chunks) : undefined;
}
