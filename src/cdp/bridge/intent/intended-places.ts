import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loopbackOrigin, originOf, withoutFragment } from './loopback-origin.ts';

/** Places of this machine that a test has gone to: origins, and folders of `file:` pages. */
export class IntendedPlaces {
  readonly #origins = new Set<string>();
  readonly #folders = new Set<string>();

  get origins(): ReadonlySet<string> {
    return this.#origins;
  }

  get folders(): ReadonlySet<string> {
    return this.#folders;
  }

  /** Returns whether it is new here. @param place see {@link placeOf} */
  add(place: string): boolean {
    const places = place.startsWith('file:') ? this.#folders : this.#origins;
    if (places.has(place)) return false;
    places.add(place);
    return true;
  }

  /** Whether an address is in one of them. */
  has(url: string): boolean {
    if (!url.startsWith('file:')) return this.#origins.has(originOf(url.replace(/^ws/, 'http')) ?? '');
    const file = withDriveLetter(withoutFragment(url));
    for (const folder of this.#folders) if (file.startsWith(folder)) return true;
    return false;
  }
}

/** What is carried for one who goes to an address: its origin, or its folder with all that is in it; null: nothing. */
export function placeOf(url: unknown): string | null {
  if (typeof url !== 'string' || !URL.canParse(url)) return null;
  const { protocol, host, href } = new URL(url);
  if (protocol !== 'file:') return loopbackOrigin(url);
  if (host !== '') return null;
  const file = withDriveLetter(href.replace(/[?#].*$/, ''));
  if (isFolder(file)) return file.endsWith('/') ? file : `${file}/`;
  const folder = file.replace(/[^/]*$/, '');
  // Who keeps a page in the root folder does not mean the disk.
  return /^file:\/\/\/([A-Z]:\/)?$/.test(folder) ? file : folder;
}

/** Windows takes `c:` for `C:`, and Chromium says `C:` there, whatever it was told. */
function withDriveLetter(url: string): string {
  return url.replace(/^file:\/\/\/[a-z]:(?=\/|$)/, (drive) => drive.slice(0, -2) + drive.slice(-2).toUpperCase());
}

function isFolder(url: string): boolean {
  try {
    return statSync(fileURLToPath(url)).isDirectory();
  } catch {
    return false;
  }
}
