import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parsedUrl, withoutFragment } from '../../../common/url/parsed-url.ts';
import { loopbackOrigin, originOf } from '../hosts/proxied-hosts.ts';

/**
 * What a test, or a page that it visited, has reached on this machine, see {@link visitedOriginOf}: origins, and
 * directories of `file:` pages.
 */
export class VisitedOrigins {
  readonly #visited = new Set<string>();

  get origins(): string[] {
    return [...this.#visited].filter((origin) => !origin.startsWith('file:'));
  }

  get directories(): string[] {
    return [...this.#visited].filter((origin) => origin.startsWith('file:'));
  }

  /** Returns whether it is new. */
  add(origin: string): boolean {
    if (this.#visited.has(origin)) return false;
    this.#visited.add(origin);
    return true;
  }

  has(url: string): boolean {
    if (!url.startsWith('file:')) return this.#visited.has(originOf(url.replace(/^ws/, 'http')) ?? '');
    const file = withDriveLetter(withoutFragment(url));
    return this.directories.some((directory) => file.startsWith(directory));
  }
}

/** The origin of a page from this machine, or the directory of a `file:` page; null for a page from elsewhere. */
export function visitedOriginOf(url: unknown): string | null {
  const parsed = typeof url === 'string' ? parsedUrl(url) : null;
  if (!parsed) return null;
  const { protocol, host, href } = parsed;
  if (protocol !== 'file:') return /^http/.test(protocol) ? loopbackOrigin(url) : null;
  if (host !== '') return null;
  const file = withDriveLetter(href.replace(/[?#].*$/, ''));
  if (isDirectory(file)) return file.endsWith('/') ? file : `${file}/`;
  const directory = file.replace(/[^/]*$/, '');
  // A page in the root directory does not expose the whole disk.
  return /^file:\/\/\/([A-Z]:\/)?$/.test(directory) ? file : directory;
}

/** Windows treats `c:` like `C:`, and Chromium always writes `C:`. */
function withDriveLetter(url: string): string {
  return url.replace(/^file:\/\/\/[a-z]:(?=\/|$)/, (drive) => drive.slice(0, -2) + drive.slice(-2).toUpperCase());
}

function isDirectory(url: string): boolean {
  try {
    return statSync(fileURLToPath(url)).isDirectory();
  } catch {
    return false;
  }
}
