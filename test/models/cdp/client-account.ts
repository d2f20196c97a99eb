import type { CdpMessage } from '../../../src/cdp/message.ts';

/** A client's commands and responses: one response per command, unless the session ended first. */
export class ClientAccount {
  /** Wrong messages that it received. */
  readonly faults: string[] = [];
  /** Sessions that it knows, with their parent sessions. */
  readonly sessions = new Map<string, string | undefined>();
  readonly #pending = new Map<number, CdpMessage>();

  asks(command: CdpMessage): void {
    if (command.id !== undefined) this.#pending.set(command.id, command);
  }

  gets({ id, method, params, sessionId: parent }: CdpMessage): void {
    if (id !== undefined && !this.#pending.delete(id)) this.faults.push(`${id} was not asked, or responded to before`);
    const { sessionId } = (params ?? {}) as { sessionId?: string };
    if (typeof sessionId !== 'string') return;
    if (method === 'Target.attachedToTarget') this.#begin(sessionId, parent);
    if (method === 'Target.detachedFromTarget') this.#end(sessionId);
  }

  /** Commands without a response. */
  get unanswered(): string[] {
    return [...this.#pending.values()].map(({ id, method, sessionId }) => `${id} ${method} in ${sessionId}`);
  }

  /** Chromium announces a session once, in a session that it has announced: only random events differ. */
  #begin(sessionId: string, parent: string | undefined): void {
    if (this.sessions.has(sessionId)) return;
    if (parent !== undefined && !this.sessions.has(parent)) this.sessions.set(parent, undefined);
    this.sessions.set(sessionId, parent);
  }

  #end(sessionId: string): void {
    this.sessions.delete(sessionId);
    for (const [id, command] of this.#pending) if (command.sessionId === sessionId) this.#pending.delete(id);
    for (const [child, parent] of this.sessions) if (parent === sessionId) this.#end(child);
  }
}
