import type { Protocol } from 'devtools-protocol';
import { deferred } from '../../common/deferred.ts';
import { within } from '../../common/pause.ts';
import { withoutFragment } from '../../common/url/parsed-url.ts';
import { type CdpMessage, fieldsOf } from '../message.ts';
import type { Session, World } from './session.ts';

/** How many documents are kept for each frame. */
const KEPT = 4;

/**
 * Frames and their documents, as the client's own sessions report them. (A session that a test opens reports them
 * again, at another time.) Frames of a page whose Page domain is off are unknown here.
 */
export class Frames {
  readonly #frames = new Map<string, Frame>();
  readonly #whenDocumentComes: ((document: FrameDocument) => void)[] = [];

  /** Undefined until the browser reports a document in it. */
  get(frameId: string | undefined): Frame | undefined {
    return frameId === undefined ? undefined : this.#frames.get(frameId);
  }

  /** The IDs of the frames that a session reports. */
  of(session: Session): string[] {
    return [...this.#frames.values()].filter((frame) => frame.session === session).map(({ id }) => id);
  }

  document(loaderId: string): FrameDocument | undefined {
    for (const { documents } of this.#frames.values()) {
      const found = documents.find((document) => document.loaderId === loaderId);
      if (found) return found;
    }
    return undefined;
  }

  onDocument(listener: (document: FrameDocument) => void): void {
    this.#whenDocumentComes.push(listener);
  }

  /** Takes a message of a session before the interceptors do. */
  before({ method, params }: CdpMessage, session: Session): void {
    if (method === 'Page.frameNavigated') {
      const { frame, type } = fieldsOf<Protocol.Page.FrameNavigatedEvent>(params);
      this.#commit(session, frame, type === 'BackForwardCacheRestore');
    }
  }

  /** Takes the same message after the interceptors. */
  after({ method, params }: CdpMessage): void {
    if (method !== 'Page.frameDetached') return;
    const { frameId, reason } = fieldsOf<Protocol.Page.FrameDetachedEvent>(params);
    // A swapped frame continues in another session.
    if (reason !== 'swap') this.#remove(String(frameId));
  }

  /** The browser has reported the world of a document. */
  meetWorld(world: World): void {
    const document = world.isDefault ? this.get(world.frameId)?.documents.at(-1) : undefined;
    if (document?.session === world.session) document.meet(world);
  }

  end(ended: Session): void {
    for (const { id, session } of [...this.#frames.values()]) if (session === ended) this.#remove(id);
  }

  #commit(session: Session, described: unknown, isRestored: boolean): void {
    const { id, parentId, loaderId, url, unreachableUrl } = fieldsOf<Protocol.Page.Frame>(described);
    if (typeof id !== 'string' || typeof loaderId !== 'string' || typeof url !== 'string') return;
    this.#removeChildren(id);
    const known = this.#frames.get(id);
    const frame: Frame = known ?? {
      id,
      parentId: typeof parentId === 'string' ? parentId : undefined,
      session,
      documents: [],
    };
    frame.session = session;
    frame.documents.at(-1)?.leave();
    const isUnreachable = unreachableUrl !== undefined || url.startsWith('chrome-error:');
    const fields = { loaderId, url: withoutFragment(url), isUnreachable, isRestored };
    const document = new FrameDocument(frame, fields);
    // A frame's first document takes over the world of its initial empty document.
    const world = !known && url === 'about:blank' ? mainWorldOf(session, id) : undefined;
    if (world) document.meet(world);
    this.#frames.set(id, frame);
    const same = frame.documents.findIndex((earlier) => earlier.loaderId === loaderId);
    if (same !== -1) frame.documents.splice(same, 1);
    frame.documents.push(document);
    frame.documents.splice(0, frame.documents.length - KEPT);
    for (const listener of this.#whenDocumentComes) listener(document);
  }

  #remove(frameId: string): void {
    const { documents = [] } = this.#frames.get(frameId) ?? {};
    this.#frames.delete(frameId);
    for (const document of documents.splice(0)) document.leave();
    this.#removeChildren(frameId);
  }

  #removeChildren(frameId: string): void {
    for (const { id, parentId } of [...this.#frames.values()]) if (parentId === frameId) this.#remove(id);
  }
}

/** The newest main world of a frame in a session. */
export function mainWorldOf(session: Session | undefined, frameId: string | undefined): World | undefined {
  return [...(session?.worlds.values() ?? [])].findLast((world) => world.isDefault && world.frameId === frameId);
}

/** A frame of a page. Its process may change; another session then reports it. */
export interface Frame {
  readonly id: string;
  /** Undefined in a main frame. */
  readonly parentId: string | undefined;
  session: Session;
  /** Oldest first; the last one is the current document. Earlier ones may still have requests in flight. */
  readonly documents: FrameDocument[];
}

type DocumentFields = Pick<FrameDocument, 'loaderId' | 'url' | 'isUnreachable' | 'isRestored'>;

/** Time limit for a document's world to be reported, in ms: it follows the document within a few ms. */
const WORLD_MS = 1_000;

/** A current or former document of a frame. */
export class FrameDocument {
  readonly frame: Frame;
  readonly session: Session;
  readonly loaderId: string;
  /** Without fragment. */
  readonly url: string;
  /** It is the browser's own error page. */
  readonly isUnreachable: boolean;
  /** It comes from the back/forward cache; its frames are not reported again. */
  readonly isRestored: boolean;
  #origin: string | null = null;
  readonly #settled = deferred();

  constructor(frame: Frame, { loaderId, url, isUnreachable, isRestored }: DocumentFields) {
    this.frame = frame;
    this.session = frame.session;
    this.loaderId = loaderId;
    this.url = url;
    this.isUnreachable = isUnreachable;
    this.isRestored = isRestored;
  }

  get isPresent(): boolean {
    return this.frame.documents.at(-1) === this;
  }

  /** The origin of its scripts; null if the browser does not report it in time. */
  async origin(): Promise<string | null> {
    if (this.#origin === null) await within(this.#settled.promise, WORLD_MS, undefined);
    return this.#origin;
  }

  /** The browser has reported the world of its scripts. */
  meet({ origin }: World): void {
    this.#origin = origin;
    this.#settled.resolve();
  }

  /** It has left its frame and will not get a world. */
  leave(): void {
    this.#settled.resolve();
  }
}
