import { expect, test } from '@playwright/test';
import type { Picture } from '../../../src/cdp/screencast/screencast.ts';
import type { FilmPage } from '../../../src/features/film/data.ts';
import { FILM_BYTES, FILM_MS, Film } from '../../../src/features/film/film.ts';
import { fitted } from '../../../src/features/film/film-page.ts';

/** What is kept of a test's pages, and what of it fits. */

const NOW = Date.now();
const picture = (target: string, at: number, bytes = 10): Picture => ({
  target,
  url: `http://localhost/${target}`,
  at,
  width: 800,
  height: 600,
  data: 'x'.repeat(bytes),
});
const times = (film: Film, from: number) =>
  film.of({ from, ok: false }).map(({ pictures }) => pictures.map(({ at }) => at - NOW));

test('keeps the last 20 seconds of each page, and its look before that', async () => {
  const film = new Film('retain-on-failure');
  for (const at of [-60_000, -50_000, -15_000, -5_000]) await film.onPicture(picture('one', NOW + at));
  for (const at of [-40_000, -30_000]) await film.onPicture(picture('still', NOW + at));
  const [one, still] = times(film, NOW - 100_000);
  expect(one?.slice(-2)).toEqual([-15_000, -5_000]);
  expect(one).toHaveLength(3);
  // A page that does not change has one picture.
  expect(still).toEqual([-30_000]);
});

test('has only pages that the test has used: open ones, and those that changed since it began', async () => {
  const film = new Film('on');
  await film.onPicture(picture('earlier', NOW - 9_000));
  film.onPageEnd('earlier');
  await film.onPicture(picture('shared', NOW - 8_000));
  await film.onPicture(picture('closed', NOW - 1_000));
  film.onPageEnd('closed');
  expect(times(film, NOW - 5_000)).toEqual([[-8_000], [-1_000]]);
});

test('has the addresses of a page, and a page without a picture', async () => {
  const film = new Film('on');
  const begun = Date.now() - 1;
  await film.onPicture(picture('page', NOW));
  for (const url of ['http://localhost/a', 'http://localhost/a', 'http://localhost/b']) film.onAddress('page', url);
  film.onAddress('brief', 'http://localhost/c');
  film.onPageEnd('brief');
  const urls = film.of({ from: begun, ok: false }).map(({ visits }) => visits.map(({ url }) => url));
  expect(urls).toEqual([['http://localhost/a', 'http://localhost/b'], ['http://localhost/c']]);
  expect(film.of({ from: Date.now() + 1, ok: false })).toHaveLength(1);
  for (let n = 0; n < 500; n += 1) film.onAddress(`page ${n}`, 'http://localhost/');
  expect(film.of({ from: begun, ok: false })).toHaveLength(200);
});

test('gives a film of failed tests, or of all', () => {
  const [onFailure, on] = [new Film('retain-on-failure'), new Film('on')];
  for (const film of [onFailure, on]) void film.onPicture(picture('page', NOW));
  const counts = (film: Film) => [true, false].map((ok) => film.of({ from: NOW - 1, ok }).length);
  expect(counts(onFailure)).toEqual([0, 1]);
  expect(counts(on)).toEqual([1, 1]);
});

test('keeps a limited number of bytes, of the newest pages and pictures', async () => {
  const film = new Film('on');
  for (let page = 0; page < 40; page += 1) void film.onPicture(picture(`page ${page}`, NOW + page, 1_000_000));
  const kept = film.of({ from: NOW - FILM_MS, ok: true });
  expect(kept).toHaveLength((4 * FILM_BYTES) / 1_000_000);
  expect(kept.at(-1)?.pictures[0]?.target).toBe('page 39');
  for (let n = 0; n < 100; n += 1) void film.onPicture(picture('large', NOW + n, 1_000_000));
  const pictures = film.of({ from: NOW - FILM_MS, ok: true }).flatMap((each) => each.pictures);
  expect(pictures.length).toBeLessThanOrEqual((4 * FILM_BYTES) / 1_000_000);
});

test('takes fewer pictures per second when they are large', async () => {
  const film = new Film('on');
  const msOf = async (bytes: number) => {
    const before = performance.now();
    await film.onPicture(picture('page', NOW, bytes));
    return performance.now() - before;
  };
  expect(await msOf(10_000)).toBeLessThan(280);
  // Two per second, less the time between five per second.
  expect(await msOf(200_000)).toBeGreaterThan(280);
});

test('leaves out pictures evenly until the rest fits, and the last ones at the very end', () => {
  const page = (count: number, bytes: number): FilmPage => ({
    from: 0,
    until: count,
    addresses: ['a'],
    visits: [],
    pictures: Array.from({ length: count }, (_, at) => [at, 0, 1, 1, 'x'.repeat(bytes)]),
  });
  const [large, small] = fitted([page(100, 50_000), page(10, 1_000)], 1_000_000);
  expect(small?.pictures).toHaveLength(10);
  const kept = large?.pictures.map(([at]) => at) ?? [];
  expect(kept.length).toBeGreaterThan(12);
  expect(kept.length).toBeLessThan(20);
  expect(kept[0]).toBe(0);
  expect(kept.at(-1)).toBe(99);
  const gaps = kept.slice(1).map((at, n) => at - (kept[n] ?? 0));
  expect(Math.max(...gaps)).toBeLessThan(25);
  expect(fitted([page(3, 50_000)], 60_000)[0]?.pictures.map(([at]) => at)).toEqual([2]);
  expect(fitted([page(3, 50_000)], 10)).toEqual([]);
});
