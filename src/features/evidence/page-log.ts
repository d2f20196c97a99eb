import type { Browser, ConsoleMessage, Page } from 'puppeteer-core';
import { dateNow } from '../../common/clock.ts';
import { MAX_TEXT, SPARE } from './bounds.ts';

/** A line of a page's console, or an error that the page did not catch. */
export interface PageLine {
  /** ms since the epoch. */
  at: number;
  /** As in Puppeteer (`error`, `warn`, …), or `pageerror`. */
  type: string;
  text: string;
  /** `address:line` of the script, or empty. */
  from: string;
}

/** Lines that are kept for each page. */
const MAX_LINES = 200;

/**
 * The open pages of one browser and what they wrote to their consoles. Sends nothing: Puppeteer enables the events for
 * every page by itself.
 */
export class PageLog {
  readonly #lines = new Map<Page, PageLine[]>();

  constructor(browser: Browser) {
    browser.on('targetcreated', async (target) => {
      if (target.type() !== 'page') return;
      // A target that has already closed has no page.
      const page = await target.page().catch(() => null);
      if (page && !page.isClosed()) this.#follow(page);
    });
  }

  /** The open pages, oldest first. */
  get pages(): Page[] {
    return [...this.#lines.keys()];
  }

  /** The last lines of a page, from `since` on (ms since the epoch). */
  linesOf(page: Page, since: number): PageLine[] {
    return (this.#lines.get(page) ?? []).filter(({ at }) => at >= since);
  }

  #follow(page: Page): void {
    const lines: PageLine[] = [];
    const add = (type: string, text: string, from: string) => {
      lines.push({ at: dateNow(), type, text: bounded(text), from: bounded(from) });
      if (lines.length > MAX_LINES) lines.shift();
    };
    this.#lines.set(page, lines);
    page.on('console', (message) => {
      add(message.type(), message.text(), place(message));
      // Without a listener, Puppeteer releases the values of a message at once.
      if (!isHeardByTest(page)) for (const value of message.args()) value.dispose().catch(() => undefined);
    });
    page.on('pageerror', (error: unknown) => {
      add('pageerror', error instanceof Error ? (error.stack ?? error.message) : String(error), '');
    });
    page.once('close', () => this.#lines.delete(page));
  }
}

function place(message: ConsoleMessage): string {
  const { url, lineNumber } = message.location();
  if (!url) return '';
  return lineNumber === undefined ? url : `${url}:${lineNumber + 1}`;
}

/** Whether the test listens to the console, too, and may still use the values of a message. */
function isHeardByTest(page: Page): boolean {
  return page.listenerCount('console') > 1 || page.workers().some((worker) => worker.listenerCount('console') > 0);
}

/** A copy, because a slice would keep the whole text in memory. */
function bounded(text: string): string {
  const limit = MAX_TEXT + SPARE;
  return text.length <= limit ? text : Buffer.from(text.slice(0, limit), 'utf16le').toString('utf16le');
}
