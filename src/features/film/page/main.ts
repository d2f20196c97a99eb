import type { FilmData } from '../data.ts';
import { find, Player } from './player.ts';

/** Shows the film whose data is in the page. */

const source = document.getElementById('data');
if (source) show(JSON.parse(source.textContent ?? ''));

function show({ title, facts, failed, error, pages }: FilmData): void {
  find('h1', HTMLElement).textContent = title;
  find('.facts', HTMLElement).textContent = [failed ? 'failed' : 'passed', ...facts].join(' · ');
  document.body.classList.toggle('failed', failed);
  const shownError = find('.error', HTMLElement);
  shownError.textContent = error;
  shownError.hidden = error === '';
  const chooser = find('#page', HTMLSelectElement);
  const player = new Player();
  for (const [number, { addresses, visits, until }] of pages.entries()) {
    const option = document.createElement('option');
    option.value = String(number);
    option.textContent = `${number + 1}: ${addresses[visits.at(-1)?.[1] ?? 0]} (until ${(until / 1000).toFixed(1)} s)`;
    chooser.append(option);
  }
  find('.pages', HTMLElement).hidden = pages.length < 2;
  const choose = (number: number) => {
    const page = pages[number];
    if (page) player.open(page);
  };
  chooser.addEventListener('change', () => choose(Number(chooser.value)));
  // The page that changed last is most likely the one that matters.
  const last = pages.reduce((best, page, number) => (latest(page) > latest(pages[best] ?? page) ? number : best), 0);
  chooser.value = String(last);
  choose(last);
}

function latest({ pictures }: FilmData['pages'][number]): number {
  return pictures.at(-1)?.[0] ?? 0;
}
