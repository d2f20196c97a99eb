import type { CdpMessage } from './message.ts';

/** Commands without a response yet. */
export class PendingCommands {
  readonly #commands = new Map<number, CdpMessage>();

  add(command: CdpMessage): void {
    // Not the command itself: an upload has many MB.
    const { id, method, sessionId } = command;
    if (id !== undefined) this.#commands.set(id, { id, method, sessionId });
  }

  /** A response. Returns whether it is the first to a pending command, which is not pending any more. */
  settle(id: number): boolean {
    return this.#commands.delete(id);
  }

  /** Returns the commands that are pending in some sessions, but for some methods; they are not pending any more. */
  take(sessionIds: readonly string[], except?: ReadonlySet<string>): CdpMessage[] {
    const taken = [...this.#commands.values()].filter(
      ({ sessionId = '', method = '' }) => sessionIds.includes(sessionId) && !except?.has(method),
    );
    for (const { id } of taken) this.#commands.delete(id as number);
    return taken;
  }
}
