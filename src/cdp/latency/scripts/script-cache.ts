import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import type { BrowserModel } from '../../model/browser-model.ts';
import { PerSession } from '../../model/per-session.ts';
import { type KnownScript, keptText } from './known-scripts.ts';

/** The scripts stored in a session's page. */
interface Kept {
  /** The browser's identifier for each, needed to remove it. */
  readonly identifiers: Map<KnownScript, string>;
  /** No more scripts are stored there. */
  isOver?: boolean;
}

/** Sends a command that the client does not know about. */
type Post = (command: Omit<CdpMessage, 'id'>, onResponse?: (response: CdpMessage) => void) => void;

/**
 * The client's scripts, stored in the browser: it adds them to each of the client's worlds in a page's later documents,
 * where they wait to be called. So they cross the connection once per page, not once per document.
 */
export class ScriptCache {
  readonly #sessions: PerSession<Kept>;
  readonly #post: Post;

  constructor(model: BrowserModel, post: Post) {
    this.#sessions = new PerSession(model, () => ({ identifiers: new Map() }));
    this.#post = post;
  }

  /** Whether a new world of the client in a session has the script. */
  has(sessionId: string, script: KnownScript): boolean {
    return this.#sessions.of(sessionId)?.identifiers.has(script) ?? false;
  }

  keep(sessionId: string, worldName: string, scripts: readonly KnownScript[]): void {
    const kept = this.#sessions.of(sessionId);
    if (!kept) return;
    for (const [index, script] of scripts.entries()) {
      if (kept.isOver || !script.isExpression) continue;
      const params = { source: keptText(script, index), worldName };
      const command = { method: 'Page.addScriptToEvaluateOnNewDocument', params, sessionId };
      this.#post(command, ({ result }) => this.#onKept(sessionId, kept, script, result));
    }
  }

  /** A session's later documents have none. */
  remove(sessionId: string): void {
    const kept = this.#sessions.of(sessionId);
    if (!kept) return;
    kept.isOver = true;
    for (const identifier of kept.identifiers.values()) this.#remove(sessionId, identifier);
    kept.identifiers.clear();
  }

  #onKept(sessionId: string, kept: Kept, script: KnownScript, result: unknown): void {
    const { identifier } = fieldsOf<Protocol.Page.AddScriptToEvaluateOnNewDocumentResponse>(result);
    if (typeof identifier !== 'string') return;
    if (kept.isOver) this.#remove(sessionId, identifier);
    else kept.identifiers.set(script, identifier);
  }

  #remove(sessionId: string, identifier: string): void {
    this.#post({ method: 'Page.removeScriptToEvaluateOnNewDocument', params: { identifier }, sessionId });
  }
}
