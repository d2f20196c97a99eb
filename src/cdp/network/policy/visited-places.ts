import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withoutFragment } from '../../../common/url/without-fragment.ts';
import { loopbackOrigin, originOf } from './loopback-origin.ts';

/** Places on this machine that a test has visited: origins, and directories of `file:` pages. */
export class VisitedPlaces {
  readonly #origins = new Set<string>();
  readonly #directories = new Set<string>();

  get origins(): ReadonlySet<string> {
    return this.#origins;
  }

  get directories(): ReadonlySet<string> {
    return this.#directories;
  }

  /** Returns whether the place is new. @param place see {@link placeOf} */
  add(place: string): boolean {
    const places = place.startsWith('file:') ? this.#directories : this.#origins;
    if (places.has(place)) return false;
    places.add(place);
    return true;
  }

  /** Whether an address is in one of them. */
  has(url: string): boolean {
    if (!url.startsWith('file:')) return this.#origins.has(originOf(url.replace(/^ws/, 'http')) ?? '');
    const file = withDriveLetter(withoutFragment(url));
    for (const directory of this.#directories) if (file.startsWith(directory)) return true;
    return false;
  }
}

/**
 * What is proxied for a test that visits an address: its origin, or its directory and everything below; null for
 * nothing.
 */
export function placeOf(url: unknown): string | null {
  if (typeof url !== 'string' || !URL.canParse(url)) return null;
  const { protocol, host, href } = new URL(url);
  if (protocol !== 'file:') return loopbackOrigin(url);
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
