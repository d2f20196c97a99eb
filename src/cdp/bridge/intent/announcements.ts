import type { Protocol } from 'devtools-protocol';
import type { BrowserModel } from '../../model/browser-model.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import { withoutFragment } from './loopback-origin.ts';

/** What the browser reports of a request, beside stopping it. Pages have no say in it. */
export interface Announced {
  /** Without fragment. */
  readonly url: string;
  /** Address of the document, or the worker, that it is for. */
  readonly documentUrl: string;
  /** Of the document that it is for; empty for a worker's. */
  readonly loaderId: string;
  readonly type: string;
  /** The request whose answer led here; null for one that is no redirect. */
  readonly redirectedFrom: Announced | null;
}

interface Entry<Note> {
  sessionId: string | undefined;
  announced: Announced | null;
  note: Note | undefined;
  /** Called at the next one. */
  readonly waiting: Set<() => void>;
}

/** Bound on waiting for an announcement, in ms: it comes within a few of the stopped request, before or after. */
const ANNOUNCED_MS = 1_000;
/** Stands for a request that was sent before anybody followed it. */
const UNSEEN: Announced = { url: '', documentUrl: '', loaderId: '', type: '', redirectedFrom: null };

/**
 * What the browser has announced of the requests that are under way (`Network.requestWillBeSent`), by their ID, with a
 * note to each. Nothing is kept of a request that has ended, or that is never announced.
 */
export class Announcements<Note> {
  readonly #entries = new Map<string, Entry<Note>>();

  constructor(model: BrowserModel) {
    // One that is followed before it is announced has no session yet.
    model.onSessionEnd(({ id: gone }) => {
      for (const [id, { sessionId }] of this.#entries) if (sessionId === gone) this.#entries.delete(id);
    });
  }

  /** How many requests are followed. */
  get size(): number {
    return this.#entries.size;
  }

  /** Keeps a note to a request, which may depend on the one before; returns it. */
  note(networkId: string, make: (before: Note | undefined) => Note): Note {
    const note = make(this.#entry(networkId).note);
    this.#entry(networkId).note = note;
    return note;
  }

  /** The announcement of a stopped request; null if none comes, as for what the browser requests on its own account. */
  async of(networkId: string, url: string): Promise<Announced | null> {
    const deadline = performance.now() + ANNOUNCED_MS;
    for (;;) {
      const entry = this.#entry(networkId);
      const announced = atAddress(entry.announced, url);
      if (announced) return announced;
      const left = deadline - performance.now();
      if (left > 0) {
        await next(entry.waiting, left);
        continue;
      }
      if (!entry.announced && entry.waiting.size === 0) this.#entries.delete(networkId);
      return null;
    }
  }

  /** Takes the browser's `Network.*` events. */
  observe({ method, params, sessionId }: CdpMessage): void {
    const { requestId } = fieldsOf<Protocol.Network.RequestWillBeSentEvent>(params);
    if (typeof requestId !== 'string') return;
    if (method === 'Network.loadingFinished' || method === 'Network.loadingFailed') this.#entries.delete(requestId);
    if (method !== 'Network.requestWillBeSent') return;
    const fields = fieldsOf<Protocol.Network.RequestWillBeSentEvent>(params);
    const { url } = fieldsOf<Protocol.Network.Request>(fields.request);
    const entry = this.#entry(requestId);
    // A test's own session reports all of it again.
    if (entry.sessionId !== undefined && entry.sessionId !== sessionId) return;
    entry.sessionId = sessionId;
    entry.announced = {
      url: withoutFragment(String(url)),
      documentUrl: withoutFragment(String(fields.documentURL)),
      loaderId: String(fields.loaderId ?? ''),
      type: String(fields.type),
      redirectedFrom: fields.redirectResponse === undefined ? null : (entry.announced ?? UNSEEN),
    };
    for (const resume of [...entry.waiting]) resume();
  }

  #entry(networkId: string): Entry<Note> {
    const known = this.#entries.get(networkId);
    if (known) return known;
    const entry: Entry<Note> = { sessionId: undefined, announced: null, note: undefined, waiting: new Set() };
    this.#entries.set(networkId, entry);
    return entry;
  }
}

/** The last request to an address among a request and those that were redirected to it. */
function atAddress(announced: Announced | null, url: string): Announced | null {
  let request = announced;
  while (request && request.url !== url) request = request.redirectedFrom;
  return request;
}

/** Resolves at the next announcement, or after `ms`. */
function next(waiting: Set<() => void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const resume = () => {
      clearTimeout(timer);
      waiting.delete(resume);
      resolve();
    };
    const timer = setTimeout(resume, ms);
    waiting.add(resume);
  });
}
