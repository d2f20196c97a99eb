import type { CdpMessage } from './message.ts';

/** Commands without a response yet. */
export class PendingCommands {
  readonly #commands = new Map<number, CdpMessage>();

  add(command: CdpMessage): void {
    // Not the command itself: an upload can have many MB.
    const { id, method, sessionId } = command;
    if (id !== undefined) this.#commands.set(id, { id, method, sessionId });
  }

  /** Records a response. Returns whether it is the first one to a pending command, which then is no longer pending. */
  settle(id: number): boolean {
    return this.#commands.delete(id);
  }

  /** Returns and removes the pending commands of some sessions, except for some methods. */
  take(sessionIds: readonly string[], except?: ReadonlySet<string>): CdpMessage[] {
    const taken = this.list(sessionIds, except);
    for (const { id } of taken) this.#commands.delete(id as number);
    return taken;
  }

  /** Returns the same commands without removing them. */
  list(sessionIds: readonly string[], except?: ReadonlySet<string>): CdpMessage[] {
    return [...this.#commands.values()].filter(
      ({ sessionId = '', method = '' }) => sessionIds.includes(sessionId) && !except?.has(method),
    );
  }
}
