import { originOf, withoutFragment } from './loopback-origin.ts';

/** Pages that can lead each other: by a handle, as opener and popup, by a window's name. */
interface WindowGroup {
  /** Targets of its pages, closed ones too: they link the popups that they have opened. */
  readonly pages: Set<string>;
  readonly open: Set<string>;
  /** Where the documents in its frames came from: see {@link addressOf}. */
  readonly addresses: Set<string>;
}

/** Stands for documents whose address is not known. */
export const UNKNOWN = 'unknown:';

/**
 * Where the documents in each group of related windows came from. What is written into an empty document, and who made
 * it, no address shows; but whoever writes there is in the same group, and came with an address at first. So addresses
 * stay when their documents leave: a script that acts and then blanks, closes or leaves its document is still counted.
 */
export class WindowGroups {
  readonly #groups = new Map<string, WindowGroup>();

  /**
   * A page is there.
   * @param openerId the page that opened it, also if it may not reach that one (`noopener`)
   */
  open(page: string, openerId: string | undefined): void {
    if (this.#groups.has(page)) return;
    const group = this.#groups.get(openerId ?? page) ?? { pages: new Set(), open: new Set(), addresses: new Set() };
    // A page whose opener was never seen may be anybody's.
    if (openerId !== undefined && group.pages.size === 0) group.addresses.add(UNKNOWN);
    group.pages.add(page);
    group.open.add(page);
    this.#groups.set(page, group);
  }

  close(page: string): void {
    const group = this.#groups.get(page);
    group?.open.delete(page);
    if (group?.open.size === 0) for (const closed of group.pages) this.#groups.delete(closed);
  }

  /** A document from an address is in a frame of a page, or about to be. */
  add(page: string, address: string | null): void {
    if (address !== null) this.#groups.get(page)?.addresses.add(address);
  }

  /** A page's main frame has a new document: if no other page is left in its group, all earlier documents are gone. */
  restart(page: string): void {
    const group = this.#groups.get(page);
    if (group?.open.size !== 1) return;
    group.addresses.clear();
    for (const closed of group.pages) if (closed !== page) this.#groups.delete(closed);
    group.pages.clear();
    group.pages.add(page);
  }

  addresses(page: string): ReadonlySet<string> {
    return this.#groups.get(page)?.addresses ?? new Set();
  }
}

/**
 * What a document's address shows of its author: an origin, or a `file:` address; null for documents that are made by
 * others (`about:blank`, `data:`, a sandboxed `blob:`) and for the browser's own page about an error.
 */
export function addressOf(url: string): string | null {
  if (!URL.canParse(url) || /^(about|data|javascript|chrome-error):/.test(url) || url.startsWith('blob:null/'))
    return null;
  return originOf(url) ?? withoutFragment(url);
}
