import type { Run } from './store.ts';
import { setText } from './update.ts';

/** How long to collect announcements. */
const COLLECT_MS = 1_000;
const MAX_NAMED = 3;

/** Tells screen readers about failures, holds and ends of runs, but not about pictures. */
export class Announcer {
  readonly #region: HTMLElement;
  /** Keys of earlier news; null before the first update. */
  #known: Set<string> | null = null;
  #pending: string[] = [];
  #timer = 0;

  constructor(region: HTMLElement) {
    this.#region = region;
  }

  /** Announces what is new since the first update. */
  update(runs: readonly Run[]): void {
    const news = new Map(runs.flatMap(newsOf));
    for (const [key, text] of news) if (this.#known && !this.#known.has(key)) this.say(text);
    this.#known = new Set(news.keys());
  }

  say(text: string): void {
    this.#pending.push(text);
    if (this.#timer !== 0) return;
    this.#timer = window.setTimeout(() => {
      const named = this.#pending.slice(0, MAX_NAMED);
      const more = this.#pending.length - named.length;
      setText(this.#region, [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('. '));
      this.#pending = [];
      this.#timer = 0;
    }, COLLECT_MS);
  }
}

function newsOf({ id, name, slots, finished, endedAt, passed, failed }: Run): [string, string][] {
  const holds = slots.flatMap(({ slot, hold, test }): [string, string][] =>
    hold ? [[`${id} ${slot} ${test?.id}`, `On hold: ${test?.title ?? `slot ${slot}`}: ${hold.reason}`]] : [],
  );
  const failures = [...finished.values()].flatMap((test): [string, string][] =>
    test.ok ? [] : [[`${id} ${test.id}`, `Failed: ${test.title}`]],
  );
  const end: [string, string] = [`${id} end`, `${name} ended: ${passed} passed, ${failed} failed`];
  return [...holds, ...failures, ...(endedAt === null ? [] : [end])];
}
