import type { Protocol } from 'devtools-protocol';
import { PerSession, SessionMap } from '../model/per-session.ts';
import type { Target } from '../model/session.ts';
import type { Interceptor, InterceptorLink } from '../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';

/** What Chromium answers while the page is about to show another document. */
const BETWEEN_DOCUMENTS = 'Not attached to an active page';

/** A screenshot that the client waits for. */
interface Pending {
  readonly command: CdpMessage;
  /** Under which it was sent last. */
  lastId: number;
  /** The newest document when it was sent last, once that is known. */
  loaderId?: unknown;
  /** The browser has refused it until it has the next document. */
  isRefused?: boolean;
}

/**
 * A screenshot that meets a navigation. Of a page that is being reloaded, Chromium 156 does not answer
 * `Page.captureScreenshot` (in 11 of 14 measured cases), or refuses it, up to the moment when the new document is there. A
 * test that reloads and takes screenshots at the same time meets that easily: the next reload goes out at `load`, and so
 * does a screenshot when its preparations cost no round trips. So each is asked for again in each new document; the client
 * gets the first picture, or the last error.
 */
export class LostScreenshots implements Interceptor {
  readonly #link: InterceptorLink;
  /** Whether the browser tells of new documents there. */
  readonly #watched: PerSession<{ yes: boolean }>;
  /** By the client's ID. */
  readonly #pending: SessionMap<number, Pending>;
  /** The client's ID of each that was asked for again. */
  readonly #repeated: SessionMap<number, number>;

  constructor(link: InterceptorLink) {
    this.#link = link;
    this.#watched = new PerSession(link.model, () => ({ yes: false }));
    this.#pending = new SessionMap(link.model);
    this.#repeated = new SessionMap(link.model);
  }

  onCommand(command: CdpMessage): CdpMessage {
    const { id, method, sessionId } = command;
    const watched = method === 'Page.enable' ? this.#watched.of(sessionId) : undefined;
    if (watched) watched.yes = true;
    if (method === 'Page.captureScreenshot' && id !== undefined) {
      this.#pending.set(id, { command, lastId: id }, sessionId);
    }
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    const { id, method, params, sessionId } = message;
    if (this.#pending.size === 0) return message;
    if (id !== undefined) return this.#onResponse(id, message);
    const target = this.#link.model.session(sessionId)?.target;
    if (!target) return message;
    if (method === 'Page.frameNavigated') {
      const { frame } = fieldsOf<Protocol.Page.FrameNavigatedEvent>(params);
      const { id: frameId, loaderId } = fieldsOf<Protocol.Page.Frame>(frame);
      // Each session on the target tells of it.
      if (frameId === target.id) this.#repeat(target, (pending) => pending.loaderId !== loaderId, loaderId);
    }
    // There may be no new document after all; a crashed page is refused with the right words.
    const hasStopped =
      method === 'Page.frameStoppedLoading' && fieldsOf<{ frameId: string }>(params).frameId === target.id;
    if (hasStopped || method === 'Inspector.targetCrashed') this.#repeat(target, ({ isRefused }) => isRefused === true);
    return message;
  }

  #onResponse(id: number, message: CdpMessage): CdpMessage | null {
    const asked = this.#repeated.get(id) ?? id;
    const pending = this.#pending.get(asked);
    if (!pending) return message;
    if (message.error) {
      if (id !== pending.lastId) return null;
      pending.isRefused = message.error.message === BETWEEN_DOCUMENTS && this.#isWatched(pending.command.sessionId);
      if (pending.isRefused) return null;
    }
    this.#forget(asked);
    return asked === id ? message : { ...message, id: asked };
  }

  #repeat(target: Target, which: (pending: Pending) => boolean, loaderId?: unknown): void {
    for (const [asked, pending] of this.#pending) {
      const { id: _, ...command } = pending.command;
      if (this.#link.model.session(command.sessionId)?.target !== target || !which(pending)) continue;
      const lastId = this.#link.send(command);
      this.#repeated.set(lastId, asked, command.sessionId);
      Object.assign(pending, { lastId, isRefused: false, loaderId: loaderId ?? pending.loaderId });
    }
  }

  #isWatched(sessionId: string | undefined): boolean {
    const { sessions = [] } = this.#link.model.session(sessionId)?.target ?? {};
    return [...sessions].some(({ id }) => this.#watched.of(id)?.yes);
  }

  /** What is still to come of it never reaches the client. */
  #forget(asked: number): void {
    this.#pending.delete(asked);
    for (const [id, of] of this.#repeated) if (of === asked) this.#repeated.delete(id);
  }
}
