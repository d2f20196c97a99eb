import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Readable } from 'node:stream';

export interface Site {
  url: string;
  close(): void;
}

/** `?assets=<n>`: the page loads so many scripts. */
const MAX_ASSETS = 1_000;
/** `?bytes=<n>`: an answer that large; below `/stream`, without its length, in parts of {@link PART_BYTES}. */
const MAX_BYTES = 100_000_000;
const PART_BYTES = 64 * 1024;
const ASSET = `/*${'x'.repeat(5_000)}*/`;

/** A small page with a button. @param host address to listen on */
export async function startSite(host = '127.0.0.1'): Promise<Site> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://site');
    const bytes = Math.min(Number(searchParams.get('bytes') ?? 0), MAX_BYTES);
    response.setHeader('cache-control', 'no-store');
    if (bytes > 0) return pathname === '/stream' ? inParts(bytes).pipe(response) : response.end(Buffer.alloc(bytes, 7));
    const isAsset = pathname.endsWith('.js');
    response.setHeader('content-type', isAsset ? 'text/javascript' : 'text/html');
    return response.end(isAsset ? ASSET : page(Math.min(Number(searchParams.get('assets') ?? 0), MAX_ASSETS)));
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * An address of this machine that is not loopback, so that nothing takes a site there for a local server that a remote
 * browser must be helped to; loopback where the machine has no other.
 */
export function outsideAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}

function inParts(bytes: number): Readable {
  const part = Buffer.alloc(PART_BYTES, 7);
  let left = bytes;
  return new Readable({
    read() {
      this.push(left > 0 ? part.subarray(0, Math.min(left, PART_BYTES)) : null);
      left -= PART_BYTES;
    },
  });
}

/** Names the icon, so that browsers do not request one at an unknown time. */
function page(assets: number): string {
  const scripts = Array.from({ length: assets }, (_, index) => `<script src="/${index}.js"></script>`).join('');
  return `<!doctype html><link rel="icon" href="data:,"><title>site</title><h1>Hello</h1>
<button onclick="out.textContent='Hi'">Greet</button><p id="out" role="status"></p>${scripts}`;
}
