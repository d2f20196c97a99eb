import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** Sends one HTTP request to this machine with exactly these headers: `fetch` does not allow setting `Host`. */
export function rawRequest(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: AsyncIterable<Uint8Array>,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, async (response) => {
      resolve({ status: response.statusCode ?? 0, body: await text(response) });
    });
    request.on('error', reject);
    if (body) Readable.from(body).pipe(request);
    else request.end();
  });
}
