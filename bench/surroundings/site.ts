import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';

export interface Site {
  url: string;
  close(): void;
}

/** `?assets=<n>`: the page loads so many scripts. */
const MAX_ASSETS = 1_000;
/** `?bytes=<n>`: an answer that large. */
const MAX_BYTES = 100_000_000;
const ASSET = `/*${'x'.repeat(5_000)}*/`;

/** A small page with a button. @param host address to listen on */
export async function startSite(host = '127.0.0.1'): Promise<Site> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://site');
    const bytes = Math.min(Number(searchParams.get('bytes') ?? 0), MAX_BYTES);
    if (bytes > 0) return response.setHeader('cache-control', 'no-store').end(Buffer.alloc(bytes, 7));
    const isAsset = pathname.endsWith('.js');
    response.setHeader('content-type', isAsset ? 'text/javascript' : 'text/html');
    response.setHeader('cache-control', 'no-store');
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

/** Names the icon, so that browsers do not request one at an unknown time. */
function page(assets: number): string {
  const scripts = Array.from({ length: assets }, (_, index) => `<script src="/${index}.js"></script>`).join('');
  return `<!doctype html><link rel="icon" href="data:,"><title>site</title><h1>Hello</h1>
<button onclick="out.textContent='Hi'">Greet</button><p id="out" role="status"></p>${scripts}`;
}
