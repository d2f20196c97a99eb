import type { CdpMessage } from '../../message.ts';
import type { BrowserModel } from '../../model/browser-model.ts';
import { type Session, withDescendants } from '../../model/session.ts';

/** What a client gets when it closes a context. */
export interface ClosingEvents {
  /** The events, in the browser's order; null if only the browser knows them. The context is closed for the client. */
  of(browserContextId: string): CdpMessage[] | null;
  /** Whether a message is about a context that is closed for the client, and belongs to no session. */
  hides?(message: CdpMessage): boolean;
  /** The browser has closed a context, too. */
  closed?(browserContextId: string): void;
}

/** The sessions in a context that the client knows. */
export function shownSessions(model: BrowserModel, browserContextId: string): Session[] {
  const all = new Set(model.sessionsIn(browserContextId).flatMap(withDescendants));
  return [...all].filter(({ isShown }) => isShown);
}

/** What Playwright gets: the end of the page's session. */
export class DetachedPages implements ClosingEvents {
  readonly #model: BrowserModel;

  constructor(model: BrowserModel) {
    this.#model = model;
  }

  of(browserContextId: string): CdpMessage[] | null {
    const shown = shownSessions(this.#model, browserContextId);
    const isPlain = shown.length < 2 && shown.every(({ target, parent }) => target.type === 'page' && !parent);
    if (!isPlain) return null;
    return shown.map(({ id: sessionId, target }) => ({
      method: 'Target.detachedFromTarget',
      params: { sessionId, targetId: target.id },
    }));
  }
}
