import type { FilmPage } from './data.ts';

/** A share of the pictures is left out at a time, evenly over the page's time. */
const EVERY = 4;

/** Leaves out pictures until the rest has at most this many bytes: evenly, and each page's last one at the very end. */
export function fitted(pages: readonly FilmPage[], most: number): FilmPage[] {
  let kept = pages.map((page) => ({ ...page }));
  let bytes = kept.reduce((sum, page) => sum + bytesOf(page), 0);
  while (bytes > most) {
    const [largest] = [...kept].sort((one, other) => bytesOf(other) - bytesOf(one));
    if (!largest) break;
    const { pictures } = largest;
    const last = pictures.length - 1;
    bytes -= bytesOf(largest);
    largest.pictures =
      pictures.length > 2 ? pictures.filter((_, at) => at === last || at % EVERY !== 1) : pictures.slice(1);
    bytes += bytesOf(largest);
    kept = kept.filter((page) => page.pictures.length > 0);
  }
  return kept;
}

function bytesOf({ pictures, addresses }: FilmPage): number {
  const texts = [...addresses, ...pictures.map(([, , , , jpeg]) => jpeg)];
  return texts.reduce((sum, { length }) => sum + length + 40, 0);
}
