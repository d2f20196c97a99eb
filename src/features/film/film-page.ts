import { readFileSync } from 'node:fs';
import { distFile } from '../../common/dist-file.ts';
import { pageFile } from '../../common/text/page-file.ts';
import { printableLines } from '../../printable.ts';
import type { FilmData, FilmPage } from './data.ts';
import { FILM_BYTES, type PageFilm } from './film.ts';

/** While the page is too large, every fourth picture is left out. */
const EVERY = 4;

/** The longest error that is shown, in characters. Cut after masking: a secret that is cut is not recognised. */
const MAX_ERROR = 3_000;

/** The longest address that is shown: `data:` addresses have no limit. */
const MAX_ADDRESS = 500;

const BODY = `<main>
<h1></h1>
<p class="facts"></p>
<pre class="error"></pre>
<div class="pages"><label for="page">Page</label> <select id="page"></select></div>
<figure>
<p class="none">No picture: this page closed too soon.</p>
<img alt="">
<figcaption><output class="time"></output> <span class="address"></span></figcaption>
</figure>
<div class="controls">
<button type="button" class="play" aria-pressed="false">Play</button>
<button type="button" class="previous" aria-label="Previous picture">◀</button>
<button type="button" class="next" aria-label="Next picture">▶</button>
<input type="range" class="scrubber" aria-label="Time" min="0" step="1">
</div>
<p class="hint">Space plays and pauses, the arrow keys go from picture to picture, Home and End to the first and last one.</p>
<h2>Addresses</h2>
<ol class="visits"></ol>
<noscript>This page needs JavaScript.</noscript>
</main>`;

export interface FilmedTest extends Pick<FilmData, 'error' | 'facts' | 'failed' | 'title'> {
  /** When it began, in ms since the epoch. */
  from: number;
  pages: readonly PageFilm[];
}

/**
 * The film of a test: one HTML file of at most 3 MB that loads nothing else.
 * @param redact masks secrets in all texts of the film
 */
export async function filmHtml(
  { title, facts, failed, error, from, pages }: FilmedTest,
  redact: (texts: string[]) => Promise<string[]>,
): Promise<string> {
  const style = readFileSync(distFile('film.css'), 'utf8');
  const script = readFileSync(distFile('film.js'), 'utf8');
  const urls = pages.flatMap(({ pictures, visits }) => [...pictures, ...visits].map(({ url }) => url));
  const given = [...new Set(urls)];
  const [maskedTitle = '', maskedError = '', ...masked] = await redact([
    title,
    printableLines(error.slice(0, 2 * MAX_ERROR)),
    ...facts,
    ...given.map((url) => url.slice(0, 2 * MAX_ADDRESS)),
  ]);
  const addresses = new Map(given.map((url, n) => [url, cut(masked[facts.length + n] ?? '')]));
  const page = (shown: FilmPage[]) => {
    const shownFacts = masked.slice(0, facts.length);
    const data: FilmData = {
      title: maskedTitle,
      facts: shownFacts,
      failed,
      error: maskedError.slice(0, MAX_ERROR),
      pages: shown,
    };
    return pageFile({ title: `film: ${data.title}`, style, script, data, body: BODY });
  };
  const empty = Buffer.byteLength(page([]));
  return page(
    fitted(
      pages.map((each) => dataOf(each, from, addresses)),
      FILM_BYTES - empty,
    ),
  );
}

function dataOf(
  { pictures, visits, from, until }: PageFilm,
  start: number,
  shown: ReadonlyMap<string, string>,
): FilmPage {
  const addressOf = (url: string) => shown.get(url) ?? '';
  // A picture tells of addresses that came without a new document.
  const seen = [...pictures, ...visits]
    .map(({ at, url }) => ({ at: Math.max(at, from), address: addressOf(url) }))
    .sort((one, other) => one.at - other.at);
  const addresses = [...new Set(seen.map(({ address }) => address))];
  const changes = seen.filter(({ address }, n) => address !== seen[n - 1]?.address);
  return {
    visits: changes.map(({ at, address }) => [at - start, addresses.indexOf(address)]),
    from: from - start,
    until: until - start,
    addresses,
    pictures: pictures.map(({ at, url, width, height, data }) => [
      Math.max(at, from) - start,
      addresses.indexOf(addressOf(url)),
      width,
      height,
      data,
    ]),
  };
}

function cut(shown: string): string {
  return shown.length > MAX_ADDRESS ? `${shown.slice(0, MAX_ADDRESS)}…` : shown;
}

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
    // Its addresses alone are of no use here.
    if (largest.pictures.length === 0) kept = kept.filter((page) => page !== largest);
  }
  return kept;
}

function bytesOf({ pictures, addresses }: FilmPage): number {
  const texts = [...addresses, ...pictures.map(([, , , , jpeg]) => jpeg)];
  return texts.reduce((sum, { length }) => sum + length + 40, 0);
}
