import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import { withoutFragment } from './loopback-origin.ts';

/** A document that has come into a frame, as the browser tells of it. */
export interface FrameDocument {
  readonly sessionId: string;
  readonly frameId: string;
  /** Of a frame in another one. */
  readonly parentId: string | undefined;
  readonly loaderId: string;
  /** Without fragment; `about:blank` and `about:srcdoc` have their origin from elsewhere. */
  readonly url: string;
  /** It is the browser's own page, about an error there. */
  readonly isError: boolean;
}

/** How many documents of a frame are remembered: the one before may still have requests under way. */
const REMEMBERED = 4;

/** Which documents there are, and which frames they are in. */
export class FrameDocuments {
  readonly #frames = new Map<string, FrameDocument>();
  readonly #byLoader = new Map<string, FrameDocument>();
  /** IDs of the documents of each frame, oldest first. */
  readonly #loaders = new Map<string, string[]>();

  /** The document that is in a frame; undefined before the first one has come, which is the empty one. */
  inFrame(frameId: string | undefined): FrameDocument | undefined {
    return frameId === undefined ? undefined : this.#frames.get(frameId);
  }

  /** The document by its loader, also one that was in its frame before. */
  loadedBy(loaderId: string): FrameDocument | undefined {
    return this.#byLoader.get(loaderId);
  }

  /** The documents that are in all frames now. */
  all(): Iterable<FrameDocument> {
    return this.#frames.values();
  }

  /** To be told of the browser's `Page.*` and `Target.*` events. */
  observe({ method, params, sessionId }: CdpMessage): void {
    if (method === 'Page.frameNavigated' && sessionId !== undefined) this.#navigated(sessionId, params);
    if (method === 'Page.frameDetached') {
      const { frameId, reason } = fieldsOf<Protocol.Page.FrameDetachedEvent>(params);
      // One that is swapped goes on, in a session of its own.
      if (reason !== 'swap') this.#remove(String(frameId));
    }
    if (method === 'Target.detachedFromTarget') {
      const { sessionId: gone } = fieldsOf<Protocol.Target.DetachedFromTargetEvent>(params);
      for (const frame of [...this.#frames.values()]) if (frame.sessionId === gone) this.#remove(frame.frameId);
    }
  }

  #navigated(sessionId: string, params: unknown): void {
    const { frame } = fieldsOf<Protocol.Page.FrameNavigatedEvent>(params);
    const { id, parentId, loaderId, url, unreachableUrl } = fieldsOf<Protocol.Page.Frame>(frame);
    if (typeof id !== 'string' || typeof loaderId !== 'string' || typeof url !== 'string') return;
    for (const child of [...this.#frames.values()]) if (child.parentId === id) this.#remove(child.frameId);
    const document: FrameDocument = {
      sessionId,
      frameId: id,
      parentId: typeof parentId === 'string' ? parentId : undefined,
      loaderId,
      url: withoutFragment(url),
      isError: unreachableUrl !== undefined || url.startsWith('chrome-error:'),
    };
    this.#frames.set(id, document);
    this.#byLoader.set(loaderId, document);
    const loaders = [...(this.#loaders.get(id) ?? []).filter((known) => known !== loaderId), loaderId];
    for (const old of loaders.splice(0, Math.max(0, loaders.length - REMEMBERED))) this.#byLoader.delete(old);
    this.#loaders.set(id, loaders);
  }

  #remove(frameId: string): void {
    this.#frames.delete(frameId);
    for (const loaderId of this.#loaders.get(frameId) ?? []) this.#byLoader.delete(loaderId);
    this.#loaders.delete(frameId);
    for (const child of [...this.#frames.values()]) if (child.parentId === frameId) this.#remove(child.frameId);
  }
}
