import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../message.ts';
import { PerSession, SessionMap } from '../model/per-session.ts';
import type { Target } from '../model/session.ts';
import type { Interceptor, InterceptorTransport } from '../transport/interceptor.ts';

/** Chromium's response while the page is about to show another document. */
const BETWEEN_DOCUMENTS = 'Not attached to an active page';

interface Pending {
  readonly command: CdpMessage;
  /** The IDs of all attempts: the first one is the client's. */
  readonly ids: number[];
  /** The newest document at its last attempt, once that is known. */
  loaderId?: unknown;
  /** The browser has rejected it until the next document is there. */
  isRefused?: boolean;
}

/**
 * Retries screenshots during a navigation. While a page is reloading, Chromium 156 does not respond to
 * `Page.captureScreenshot` (in 11 of 14 measured cases), or rejects it, until the new document is there. A test that
 * reloads and takes screenshots at the same time runs into that easily: the next reload starts at `load`, and so does a
 * screenshot when its preparations cost no round trips. So each screenshot is requested again in each new document; the
 * client gets the first picture, or the last error.
 */
export class LostScreenshots implements Interceptor {
  readonly #transport: InterceptorTransport;
  /** Whether the browser reports new documents there. */
  readonly #watched: PerSession<{ yes: boolean }>;
  /** By the client's ID. */
  readonly #pending: SessionMap<number, Pending>;

  constructor(transport: InterceptorTransport) {
    this.#transport = transport;
    this.#watched = new PerSession(transport.model, () => ({ yes: false }));
    this.#pending = new SessionMap(transport.model);
  }

  onCommand(command: CdpMessage): CdpMessage {
    const { id, method, sessionId } = command;
    const watched = method === 'Page.enable' ? this.#watched.of(sessionId) : undefined;
    if (watched) watched.yes = true;
    if (method === 'Page.captureScreenshot' && id !== undefined) {
      this.#pending.set(id, { command, ids: [id] }, sessionId);
    }
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    const { id, method, params, sessionId } = message;
    if (this.#pending.size === 0) return message;
    if (id !== undefined) return this.#onResponse(id, message);
    const target = this.#transport.model.session(sessionId)?.target;
    if (!target) return message;
    if (method === 'Page.frameNavigated') {
      const { frame } = fieldsOf<Protocol.Page.FrameNavigatedEvent>(params);
      const { id: frameId, loaderId } = fieldsOf<Protocol.Page.Frame>(frame);
      // Every session on the target reports it.
      if (frameId === target.id) this.#repeat(target, (pending) => pending.loaderId !== loaderId, loaderId);
    }
    // Perhaps no new document follows; for a crashed page, the browser rejects the retry with the correct error.
    const hasStopped =
      method === 'Page.frameStoppedLoading' && fieldsOf<{ frameId: string }>(params).frameId === target.id;
    if (hasStopped || method === 'Inspector.targetCrashed') this.#repeat(target, ({ isRefused }) => isRefused === true);
    return message;
  }

  #onResponse(id: number, message: CdpMessage): CdpMessage | null {
    const [asked, pending] = [...this.#pending].find(([, { ids }]) => ids.includes(id)) ?? [];
    if (!pending || asked === undefined) return message;
    if (message.error) {
      if (id !== pending.ids.at(-1)) return null;
      pending.isRefused = message.error.message === BETWEEN_DOCUMENTS && this.#isWatched(pending.command.sessionId);
      if (pending.isRefused) return null;
    }
    // Later responses never reach the client.
    this.#pending.delete(asked);
    return asked === id ? message : { ...message, id: asked };
  }

  #repeat(target: Target, which: (pending: Pending) => boolean, loaderId?: unknown): void {
    for (const [, pending] of this.#pending) {
      const { id: _, ...command } = pending.command;
      if (this.#transport.model.session(command.sessionId)?.target !== target || !which(pending)) continue;
      pending.ids.push(this.#transport.send(command));
      Object.assign(pending, { isRefused: false, loaderId: loaderId ?? pending.loaderId });
    }
  }

  #isWatched(sessionId: string | undefined): boolean {
    const { sessions = [] } = this.#transport.model.session(sessionId)?.target ?? {};
    return [...sessions].some(({ id }) => this.#watched.of(id)?.yes);
  }
}
