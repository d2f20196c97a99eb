import { parsedUrl, withoutFragment } from '../../../common/url/parsed-url.ts';
import type { BrowserModel } from '../../model/browser-model.ts';
import { originOf } from '../hosts/proxied-hosts.ts';

/** Pages that can navigate each other: through a handle, as opener and popup, or by window name. */
interface WindowGroup {
  /** Targets of its pages, including closed ones: they connect the popups that they have opened. */
  readonly pages: Set<string>;
  readonly open: Set<string>;
  /** Where the documents in its frames came from: see {@link addressOf}. */
  readonly addresses: Set<string>;
}

/** Stands for documents with an unknown address. */
export const UNKNOWN = 'unknown:';

/**
 * Where the documents in each group of related windows came from. The address of an empty document does not show who
 * wrote it; but its author is in the same group, and had an address itself. So addresses stay when their documents
 * leave: a script still counts after it has cleared, closed or left its document.
 */
export class WindowGroups {
  readonly #groups = new Map<string, WindowGroup>();

  constructor(model: BrowserModel) {
    model.onSessionEnd(({ isClients, target: { id } }) => {
      const group = isClients ? this.#groups.get(id) : undefined;
      group?.open.delete(id);
      if (group?.open.size === 0) for (const closed of group.pages) this.#groups.delete(closed);
    });
  }

  /**
   * A page exists.
   * @param openerId the page that opened it, even if it cannot access that page (`noopener`)
   */
  open(page: string, openerId: string | undefined): void {
    if (this.#groups.has(page)) return;
    const group = this.#groups.get(openerId ?? page) ?? { pages: new Set(), open: new Set(), addresses: new Set() };
    // A page with an unknown opener may have been opened by any page.
    if (openerId !== undefined && group.pages.size === 0) group.addresses.add(UNKNOWN);
    group.pages.add(page);
    group.open.add(page);
    this.#groups.set(page, group);
  }

  /** A document from an address is, or is about to be, in a frame of a page. */
  add(page: string, address: string | null): void {
    if (address !== null) this.#groups.get(page)?.addresses.add(address);
  }

  /** A page's main frame has a new document: if its group has no other page, all earlier documents are gone. */
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
 * What a document's address shows about its author: an origin, or a `file:` address; null for documents that others
 * create (`about:blank`, `data:`, a sandboxed `blob:`) and for the browser's own error page.
 */
export function addressOf(url: string): string | null {
  if (!parsedUrl(url) || /^(about|data|javascript|chrome-error):/.test(url) || url.startsWith('blob:null/'))
    return null;
  return originOf(url) ?? withoutFragment(url);
}
