import { urlCredentials } from '../common/url/credentials.ts';
import { ProviderError } from './provider.ts';

/** Time limit for a browser's `/json/version`, in ms. */
const VERSION_MS = 5_000;
const NO_PORT = 'it has no debugging port: its /json/version names no webSocketDebuggerUrl';
const REDIRECT = '/json/version redirects to another address, which is not followed: give the address of the browser';

/**
 * The `ws://` address of a browser's CDP. An `http://` address is asked for `/json/version`, as Playwright and
 * Puppeteer do; whether a `ws://` address answers shows when it is used.
 * @throws ProviderError, without the address; what `fetch` throws
 */
export async function cdpAddress(
  address: string,
  { headers, signal }: { headers?: Record<string, string> | undefined; signal: AbortSignal },
): Promise<string> {
  if (isWebSocket(address)) return address;
  const url = new URL(address);
  const { username, password } = urlCredentials(url);
  url.username = '';
  url.password = '';
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/json/version`;
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  const response = await fetch(url, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(VERSION_MS)]),
    // Credentials and headers are for this host alone.
    redirect: 'manual',
    headers: { ...(username && { authorization: `Basic ${credentials}` }), ...headers },
  });
  if (response.status >= 300 && response.status < 400) throw new ProviderError('UNAVAILABLE', REDIRECT);
  if (!response.ok) throw new ProviderError('UNAVAILABLE', `/json/version responds with ${response.status}`);
  const version: unknown = await response.json().catch(() => null);
  const found = Object(version).webSocketDebuggerUrl;
  if (typeof found === 'string' && isWebSocket(found)) return found;
  throw new ProviderError('UNAVAILABLE', NO_PORT);
}

export function isWebSocket(address: string): boolean {
  return /^wss?:\/\//i.test(address);
}

/** What tells a Chromium from every other one in the address of its CDP; null: nothing does. */
export function browserIn(address: string): string | null {
  return /\/devtools\/browser\/([0-9a-f]{8}-[0-9a-f-]{27})/i.exec(address)?.[1] ?? null;
}
