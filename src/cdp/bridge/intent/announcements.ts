import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import { withoutFragment } from './loopback-origin.ts';

/** What the browser tells of a request, beside stopping it. No page has a say in it. */
export interface Announced {
  /** Without fragment. */
  readonly url: string;
  /** Address of the document, or the worker, that it is for. */
  readonly documentUrl: string;
  /** Of the document that it is for; empty for a worker's. */
  readonly loaderId: string;
  readonly type: string;
  /** Address whose answer has led here; null for a request that is no redirect. */
  readonly redirectedFrom: string | null;
}

interface Entry {
  sessionId: string | undefined;
  announced: Announced | null;
  /** Who waits for the next one. */
  waiting: (() => void)[];
}

/** Bound on waiting for an announcement, in ms: it comes within a few of the stopped request, before or after. */
const ANNOUNCED_MS = 1_000;

/** What the browser has announced of the requests that are under way (`Network.requestWillBeSent`), by their ID. */
export class Announcements {
  readonly #entries = new Map<string, Entry>();

  /** The announcement of a stopped request; null when none comes, as for what the browser asks for on its own account. */
  async of(networkId: string, url: string): Promise<Announced | null> {
    const deadline = performance.now() + ANNOUNCED_MS;
    for (;;) {
      const entry = this.#entry(networkId);
      if (entry.announced?.url === url) return entry.announced;
      const left = deadline - performance.now();
      if (left <= 0) return null;
      await next(entry, left);
    }
  }

  /** To be told of the browser's messages. */
  observe({ method, params, sessionId }: CdpMessage): void {
    const { requestId } = fieldsOf<Protocol.Network.RequestWillBeSentEvent>(params);
    if (typeof requestId !== 'string') return;
    if (method === 'Network.loadingFinished' || method === 'Network.loadingFailed') this.#entries.delete(requestId);
    if (method !== 'Network.requestWillBeSent') return;
    const fields = fieldsOf<Protocol.Network.RequestWillBeSentEvent>(params);
    const { url } = fieldsOf<Protocol.Network.Request>(fields.request);
    const { url: from } = fieldsOf<Protocol.Network.Response>(fields.redirectResponse);
    const entry = this.#entry(requestId);
    entry.sessionId = sessionId;
    entry.announced = {
      url: withoutFragment(String(url)),
      documentUrl: withoutFragment(String(fields.documentURL)),
      loaderId: String(fields.loaderId ?? ''),
      type: String(fields.type),
      redirectedFrom: typeof from === 'string' ? from : null,
    };
    for (const tell of entry.waiting.splice(0)) tell();
  }

  /** A page is gone. */
  forget(gone: string): void {
    for (const [id, { sessionId }] of this.#entries) if (sessionId === gone) this.#entries.delete(id);
  }

  #entry(networkId: string): Entry {
    const known = this.#entries.get(networkId);
    if (known) return known;
    const entry: Entry = { sessionId: undefined, announced: null, waiting: [] };
    this.#entries.set(networkId, entry);
    return entry;
  }
}

/** Resolves at the next announcement, or after `ms`. */
function next(entry: Entry, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    entry.waiting.push(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
