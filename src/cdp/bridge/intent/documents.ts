import type { Protocol } from 'devtools-protocol';
import type { BrowserModel } from '../../model/browser-model.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import { withoutFragment } from './loopback-origin.ts';

/** A document that a frame has, or had. */
export interface FrameDocument {
  readonly sessionId: string;
  readonly frameId: string;
  /** Frame around its own; undefined in the main frame. */
  readonly parentId: string | undefined;
  readonly loaderId: string;
  /** Without fragment. */
  readonly url: string;
  /** The browser's own page about an error, or an answer from elsewhere: no page of the server that its address names. */
  readonly isError: boolean;
}

interface Known extends FrameDocument {
  /** Of the world of its scripts; null until the browser reports it. */
  origin: string | null;
}

/** How many documents of a frame are kept: earlier ones may still have requests under way. */
const KEPT = 4;
/** Bound on waiting for a document's world, in ms: it is reported within a few of the document. */
const WORLD_MS = 1_000;

/**
 * Which documents there are, in which frames, and of which origin. Chromium reports the origin with the world of a
 * document's scripts (`Runtime.executionContextCreated`): `about:blank` has the one of its creator, and a sandboxed or
 * `data:` document has one that equals no other.
 */
export class Documents {
  readonly #model: BrowserModel;
  readonly #frames = new Map<string, Known>();
  readonly #byLoader = new Map<string, Known>();
  /** IDs of the documents of each frame, oldest first. */
  readonly #loaders = new Map<string, string[]>();
  readonly #whenReported = new Set<() => void>();

  constructor(model: BrowserModel) {
    this.#model = model;
    model.onSessionEnd(({ id }) => {
      for (const frame of [...this.#frames.values()]) if (frame.sessionId === id) this.#remove(frame.frameId);
    });
  }

  /** The document that is in a frame; undefined before the browser has reported one. */
  inFrame(frameId: string | undefined): FrameDocument | undefined {
    return frameId === undefined ? undefined : this.#frames.get(frameId);
  }

  /** A document by its loader, also one that was in its frame before. */
  loadedBy(loaderId: string): FrameDocument | undefined {
    return this.#byLoader.get(loaderId);
  }

  /** The origin of a document's scripts; null if the browser does not report one within a second. */
  async originOf({ loaderId }: FrameDocument): Promise<string | null> {
    const deadline = performance.now() + WORLD_MS;
    for (;;) {
      const document = this.#byLoader.get(loaderId);
      const left = deadline - performance.now();
      // A document that has left its frame gets no world anymore.
      const isPresent = document !== undefined && this.#frames.get(document.frameId) === document;
      if (!document || document.origin !== null || !isPresent || left <= 0) return document?.origin ?? null;
      await this.#reported(left);
    }
  }

  /**
   * A frame has a new document.
   * @param isRefused its request was not carried
   */
  commit(sessionId: string, frame: unknown, isRefused: boolean): FrameDocument | null {
    const { id, parentId, loaderId, url, unreachableUrl } = fieldsOf<Protocol.Page.Frame>(frame);
    if (typeof id !== 'string' || typeof loaderId !== 'string' || typeof url !== 'string') return null;
    for (const child of [...this.#frames.values()]) if (child.parentId === id) this.#remove(child.frameId);
    // The first document of a frame takes over the world of the empty one that the frame begins with.
    const isFirst = !this.#frames.has(id);
    const document: Known = {
      sessionId,
      frameId: id,
      parentId: typeof parentId === 'string' ? parentId : undefined,
      loaderId,
      url: withoutFragment(url),
      isError: isRefused || unreachableUrl !== undefined || url.startsWith('chrome-error:'),
      origin:
        (isFirst && url === 'about:blank' && this.#model.mainWorld(this.#model.session(sessionId), id)?.origin) || null,
    };
    this.#frames.set(id, document);
    this.#byLoader.set(loaderId, document);
    const loaders = [...(this.#loaders.get(id) ?? []).filter((known) => known !== loaderId), loaderId];
    for (const old of loaders.splice(0, Math.max(0, loaders.length - KEPT))) this.#byLoader.delete(old);
    this.#loaders.set(id, loaders);
    return document;
  }

  /** Takes the browser's `Page.frameDetached` and `Runtime.executionContextCreated` events. */
  observe({ method, params, sessionId }: CdpMessage): void {
    if (method === 'Page.frameDetached') {
      const { frameId, reason } = fieldsOf<Protocol.Page.FrameDetachedEvent>(params);
      // A frame that is swapped goes on in a session of its own.
      if (reason !== 'swap') this.#remove(String(frameId));
    }
    if (method === 'Runtime.executionContextCreated') this.#meetWorld(sessionId, params);
  }

  #meetWorld(sessionId: string | undefined, params: unknown): void {
    const { context } = fieldsOf<Protocol.Runtime.ExecutionContextCreatedEvent>(params);
    const { id } = fieldsOf<Protocol.Runtime.ExecutionContextDescription>(context);
    const world = this.#model.session(sessionId)?.worlds.get(id as number);
    if (!world?.isDefault || world.frameId === undefined) return;
    const document = this.#frames.get(world.frameId);
    if (document && document.sessionId === sessionId) document.origin = world.origin;
    for (const report of [...this.#whenReported]) report();
  }

  #reported(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const report = () => {
        clearTimeout(timer);
        this.#whenReported.delete(report);
        resolve();
      };
      const timer = setTimeout(report, ms);
      this.#whenReported.add(report);
    });
  }

  #remove(frameId: string): void {
    this.#frames.delete(frameId);
    for (const loaderId of this.#loaders.get(frameId) ?? []) this.#byLoader.delete(loaderId);
    this.#loaders.delete(frameId);
    for (const child of [...this.#frames.values()]) if (child.parentId === frameId) this.#remove(child.frameId);
  }
}
