import type { Protocol } from 'devtools-protocol';
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
  /** Targets of the client's sessions. */
  readonly #targets = new Map<unknown, unknown>();
  /** Sessions in which the browser tells of new documents. */
  readonly #watched = new Set<unknown>();
  /** By the client's ID. */
  readonly #pending = new Map<number, Pending>();
  /** The client's ID of each that was asked for again. */
  readonly #repeated = new Map<number, number>();

  constructor(link: InterceptorLink) {
    this.#link = link;
  }

  onCommand(command: CdpMessage): CdpMessage {
    const { id, method, sessionId } = command;
    if (method === 'Page.enable' && this.#targets.has(sessionId)) this.#watched.add(sessionId);
    if (method === 'Page.captureScreenshot' && id !== undefined) this.#pending.set(id, { command, lastId: id });
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    const { id, method, params, sessionId } = message;
    if (id !== undefined) return this.#pending.size === 0 ? message : this.#onResponse(id, message);
    if (method === 'Target.attachedToTarget') {
      const attached = fieldsOf<Protocol.Target.AttachedToTargetEvent>(params);
      this.#targets.set(attached.sessionId, fieldsOf<Protocol.Target.TargetInfo>(attached.targetInfo).targetId);
    }
    if (method === 'Target.detachedFromTarget') {
      this.#onDetached(fieldsOf<Protocol.Target.DetachedFromTargetEvent>(params).sessionId);
    }
    if (this.#pending.size === 0 || sessionId === undefined) return message;
    // A page's main frame has the ID of its target.
    const targetId = this.#targets.get(sessionId);
    if (method === 'Page.frameNavigated') {
      const { frame } = fieldsOf<Protocol.Page.FrameNavigatedEvent>(params);
      const { id: frameId, loaderId } = fieldsOf<Protocol.Page.Frame>(frame);
      // Each session on the target tells of it.
      if (frameId === targetId) this.#repeat(targetId, (pending) => pending.loaderId !== loaderId, loaderId);
    }
    // There may be no new document after all; a crashed page is refused with the right words.
    const hasStopped =
      method === 'Page.frameStoppedLoading' && fieldsOf<{ frameId: string }>(params).frameId === targetId;
    if (hasStopped || method === 'Inspector.targetCrashed')
      this.#repeat(targetId, ({ isRefused }) => isRefused === true);
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

  #repeat(targetId: unknown, which: (pending: Pending) => boolean, loaderId?: unknown): void {
    for (const [asked, pending] of this.#pending) {
      const { id: _, ...command } = pending.command;
      if (targetId === undefined || this.#targets.get(command.sessionId) !== targetId || !which(pending)) continue;
      const lastId = this.#link.send(command);
      this.#repeated.set(lastId, asked);
      Object.assign(pending, { lastId, isRefused: false, loaderId: loaderId ?? pending.loaderId });
    }
  }

  #isWatched(sessionId: unknown): boolean {
    const targetId = this.#targets.get(sessionId);
    return [...this.#watched].some((each) => targetId !== undefined && this.#targets.get(each) === targetId);
  }

  #onDetached(sessionId: unknown): void {
    this.#targets.delete(sessionId);
    this.#watched.delete(sessionId);
    for (const [asked, { command }] of this.#pending) if (command.sessionId === sessionId) this.#forget(asked);
  }

  /** What is still to come of it never reaches the client. */
  #forget(asked: number): void {
    this.#pending.delete(asked);
    for (const [id, of] of this.#repeated) if (of === asked) this.#repeated.delete(id);
  }
}
