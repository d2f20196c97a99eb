import type { FilmPage, FilmPicture } from '../data.ts';

/** Plays the pictures of one page. */
export class Player {
  readonly #image = find('img', HTMLImageElement);
  readonly #none = find('.none', HTMLElement);
  readonly #time = find('.time', HTMLElement);
  readonly #address = find('.address', HTMLElement);
  readonly #scrubber = find('.scrubber', HTMLInputElement);
  readonly #play = find('.play', HTMLButtonElement);
  readonly #visits = find('.visits', HTMLElement);
  #page: FilmPage | undefined;
  #shown: FilmPicture | undefined;
  /** When playing: the difference between the time of the film and the page's clock, in ms. */
  #offset: number | undefined;

  constructor() {
    this.#scrubber.addEventListener('input', () => {
      this.#pause();
      this.#show();
    });
    this.#play.addEventListener('click', () => this.#toggle());
    find('.previous', HTMLButtonElement).addEventListener('click', () => this.#step(-1));
    find('.next', HTMLButtonElement).addEventListener('click', () => this.#step(1));
    document.addEventListener('keydown', (event) => this.#onKey(event));
  }

  /** Shows the last picture of a page. */
  open(page: FilmPage): void {
    this.#pause();
    this.#page = page;
    this.#shown = undefined;
    this.#scrubber.min = String(Math.floor(this.#firstTime()));
    this.#scrubber.max = String(Math.ceil(page.until));
    this.#listVisits(page);
    this.#image.hidden = page.pictures.length === 0;
    this.#none.hidden = page.pictures.length > 0;
    this.#go(page.until);
  }

  #firstTime(): number {
    return this.#page?.visits[0]?.[0] ?? 0;
  }

  #go(time: number): void {
    this.#scrubber.value = String(Math.ceil(time));
    this.#show();
  }

  #show(): void {
    const page = this.#page;
    const time = Number(this.#scrubber.value);
    if (!page) return;
    const visit = page.visits.findLast(([at]) => at <= time) ?? page.visits[0];
    const address = page.addresses[visit?.[1] ?? 0] ?? '';
    this.#address.textContent = address;
    for (const button of this.#visits.querySelectorAll('button'))
      button.setAttribute('aria-current', String(button.value === timeValue(visit?.[0] ?? 0)));
    this.#time.textContent = `${seconds(time)} of ${seconds(page.until)}`;
    this.#scrubber.setAttribute('aria-valuetext', `${seconds(time)}, ${address}`);
    const picture = page.pictures.findLast(([at]) => at <= time) ?? page.pictures[0];
    if (!picture || picture === this.#shown) return;
    const [at, , width, height, jpeg] = picture;
    this.#shown = picture;
    this.#image.src = `data:image/jpeg;base64,${jpeg}`;
    this.#image.alt = `The page at ${seconds(at)}`;
    this.#image.title = `${width} × ${height}`;
  }

  #listVisits({ visits, addresses }: FilmPage): void {
    this.#visits.replaceChildren();
    for (const [at, address] of visits) {
      const button = document.createElement('button');
      button.type = 'button';
      button.value = timeValue(at);
      button.textContent = `${seconds(at)} ${addresses[address]}`;
      button.addEventListener('click', () => {
        this.#pause();
        this.#go(at);
      });
      const item = document.createElement('li');
      item.append(button);
      this.#visits.append(item);
    }
  }

  #toggle(): void {
    if (this.#offset !== undefined) {
      this.#pause();
      return;
    }
    const { until = 0 } = this.#page ?? {};
    const time = Number(this.#scrubber.value);
    const from = time >= until ? this.#firstTime() : time;
    this.#offset = from - performance.now();
    this.#play.textContent = 'Pause';
    this.#play.setAttribute('aria-pressed', 'true');
    requestAnimationFrame(() => this.#tick());
  }

  #tick(): void {
    if (this.#offset === undefined) return;
    const time = performance.now() + this.#offset;
    this.#go(time);
    if (time >= (this.#page?.until ?? 0)) this.#pause();
    else requestAnimationFrame(() => this.#tick());
  }

  #pause(): void {
    this.#offset = undefined;
    this.#play.textContent = 'Play';
    this.#play.setAttribute('aria-pressed', 'false');
  }

  #step(by: 1 | -1): void {
    this.#pause();
    const pictures = this.#page?.pictures ?? [];
    const picture = this.#shown && pictures[pictures.indexOf(this.#shown) + by];
    if (picture) this.#go(picture[0]);
  }

  #onKey(event: KeyboardEvent): void {
    const { target, key } = event;
    // A list and a button have keys already.
    if (target instanceof HTMLSelectElement || (target instanceof HTMLButtonElement && key === ' ')) return;
    const action = this.#actions[key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  }

  readonly #actions: Readonly<Record<string, () => void>> = {
    ' ': () => this.#toggle(),
    ArrowLeft: () => this.#step(-1),
    ArrowRight: () => this.#step(1),
    Home: () => this.#leap(this.#firstTime()),
    End: () => this.#leap(this.#page?.until ?? 0),
  };

  #leap(time: number): void {
    this.#pause();
    this.#go(time);
  }
}

/** The value of the button of a visit at this time. */
function timeValue(at: number): string {
  return String(Math.ceil(at));
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** An element of the page's own HTML. */
export function find<Found extends HTMLElement>(selector: string, kind: new () => Found): Found {
  const found = document.querySelector(selector);
  if (!(found instanceof kind)) throw new TypeError(`the page has no ${selector}`);
  return found;
}
