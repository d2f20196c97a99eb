import { deferred } from '../../common/deferred.ts';
import { within } from '../../common/pause.ts';
import type { Session, World } from './session.ts';

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
