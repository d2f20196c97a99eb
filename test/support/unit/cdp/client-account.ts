import type { CdpMessage } from '../../../../src/cdp/transport/message.ts';

/** What a client has asked, and what it got: one response to each, unless it heard first that the session was over. */
export class ClientAccount {
  /** What is wrong with what it got. */
  readonly faults: string[] = [];
  /** Sessions that it knows, and the ones that they were announced in. */
  readonly sessions = new Map<string, string | undefined>();
  readonly #pending = new Map<number, CdpMessage>();

  asks(command: CdpMessage): void {
    if (command.id !== undefined) this.#pending.set(command.id, command);
  }

  gets({ id, method, params, sessionId: parent }: CdpMessage): void {
    if (id !== undefined && !this.#pending.delete(id)) this.faults.push(`${id} was not asked, or answered before`);
    const { sessionId } = (params ?? {}) as { sessionId?: string };
    if (typeof sessionId !== 'string') return;
    if (method === 'Target.attachedToTarget') this.sessions.set(sessionId, parent);
    if (method === 'Target.detachedFromTarget') this.#end(sessionId);
  }

  /** Commands without a response. */
  get unanswered(): string[] {
    return [...this.#pending.values()].map(({ id, method, sessionId }) => `${id} ${method} in ${sessionId}`);
  }

  #end(sessionId: string): void {
    this.sessions.delete(sessionId);
    for (const [id, command] of this.#pending) if (command.sessionId === sessionId) this.#pending.delete(id);
    for (const [child, parent] of this.sessions) if (parent === sessionId) this.#end(child);
  }
}
