import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import type { FrameDocument } from './frame-documents.ts';
import { withoutFragment } from './loopback-origin.ts';

/** A navigation that the runner itself has asked for. */
interface Expected {
  url: string;
  /** Its command, where the answer to that is its end; null where the next document is. */
  command: string | null;
}

/** Who the runner speaks to. */
interface Spoken {
  sessionId: string;
  /** Of the page. */
  mainFrameId: string;
  /** In its main frame. */
  document: FrameDocument | undefined;
}

/**
 * The navigations that the runner asks for by its own commands: to an address, anew, and to an entry of the history that
 * has been a page before. (An entry may also be what a page has tried to go to: that is no page that anybody saw.)
 */
export class RunnerNavigations {
  /** By frame. */
  readonly #expected = new Map<string, Expected>();
  /** Addresses of the entries of each page's history, by session and entry. */
  readonly #entries = new Map<string, string>();
  /** Who has asked for a history. */
  readonly #asking = new Set<string>();
  /** Addresses that documents of each page really had, by main frame. */
  readonly #visited = new Map<string, Set<string>>();

  /** To be told of each command to a page. */
  command({ id, method, params }: CdpMessage, { sessionId, mainFrameId, document }: Spoken): void {
    if (method === 'Page.navigate') {
      const { url, frameId = mainFrameId } = fieldsOf<Protocol.Page.NavigateRequest>(params);
      this.#expect(String(frameId), String(url), `${sessionId} ${id}`);
    } else if (method === 'Page.reload') {
      if (document && !document.isError) this.#expect(mainFrameId, document.url, null);
    } else if (method === 'Page.getNavigationHistory') {
      this.#asking.add(`${sessionId} ${id}`);
    } else if (method === 'Page.navigateToHistoryEntry') {
      const { entryId } = fieldsOf<Protocol.Page.NavigateToHistoryEntryRequest>(params);
      const url = this.#entries.get(`${sessionId} ${entryId}`);
      if (url !== undefined && this.#visited.get(mainFrameId)?.has(url)) this.#expect(mainFrameId, url, null);
    }
  }

  /** Whether the runner has asked for this. */
  expects(frameId: string | undefined, { url, method }: { url: string; method: string }): boolean {
    if (frameId === undefined || method !== 'GET') return false;
    return this.#expected.get(frameId)?.url === withoutFragment(url);
  }

  /**
   * To be told of the browser's messages.
   * @param mainFrameId of the page that a message is about
   */
  observe(message: CdpMessage, mainFrameId: string): void {
    const { id, method, sessionId, params } = message;
    if (id !== undefined) {
      const command = `${sessionId} ${id}`;
      for (const [frameId, expected] of this.#expected) {
        if (expected.command === command) this.#expected.delete(frameId);
      }
      if (this.#asking.delete(command)) this.#learn(String(sessionId), message.result);
    } else if (method === 'Page.frameNavigated') {
      const { frame } = fieldsOf<Protocol.Page.FrameNavigatedEvent>(params);
      const { id: frameId, url, unreachableUrl } = fieldsOf<Protocol.Page.Frame>(frame);
      if (this.#expected.get(String(frameId))?.command === null) this.#expected.delete(String(frameId));
      if (unreachableUrl === undefined && frameId === mainFrameId) this.#visit(mainFrameId, url);
    } else if (method === 'Page.navigatedWithinDocument') {
      const { frameId, url } = fieldsOf<Protocol.Page.NavigatedWithinDocumentEvent>(params);
      if (frameId === mainFrameId) this.#visit(mainFrameId, url);
    }
  }

  /** A page is gone. */
  forget(sessionId: string, mainFrameId: string): void {
    this.#expected.delete(mainFrameId);
    this.#visited.delete(mainFrameId);
    for (const key of this.#entries.keys()) if (key.startsWith(`${sessionId} `)) this.#entries.delete(key);
  }

  #expect(frameId: string, url: string, command: string | null): void {
    this.#expected.set(frameId, { url: withoutFragment(url), command });
  }

  #learn(sessionId: string, result: unknown): void {
    const { entries } = fieldsOf<Protocol.Page.GetNavigationHistoryResponse>(result);
    for (const entry of Array.isArray(entries) ? entries : []) {
      const { id, url } = fieldsOf<Protocol.Page.NavigationEntry>(entry);
      this.#entries.set(`${sessionId} ${id}`, withoutFragment(String(url)));
    }
  }

  #visit(mainFrameId: string, url: unknown): void {
    const visited = this.#visited.get(mainFrameId) ?? new Set();
    visited.add(withoutFragment(String(url)));
    this.#visited.set(mainFrameId, visited);
  }
}
