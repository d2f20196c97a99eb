import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../message.ts';

/** A command without a response yet. Its other parameters are not kept: an upload can have many MB. */
export interface PendingCommand {
  readonly id: number;
  readonly method: string;
  /** Undefined for the browser's root session. */
  readonly sessionId: string | undefined;
  /** The JavaScript context that it names, if any. */
  readonly contextId: unknown;
}

/** Commands without a response yet. */
export class PendingCommands {
  readonly #commands = new Map<number, PendingCommand>();

  add({ id, method = '', sessionId, params }: CdpMessage): void {
    if (id === undefined) return;
    const { contextId } = fieldsOf<Protocol.Runtime.EvaluateRequest>(params);
    const { executionContextId } = fieldsOf<Protocol.Runtime.CallFunctionOnRequest>(params);
    this.#commands.set(id, { id, method, sessionId, contextId: contextId ?? executionContextId });
  }

  /** Records a response. Returns whether it is the first one to a pending command, which then is no longer pending. */
  settle(id: number): boolean {
    return this.#commands.delete(id);
  }

  /** Returns and removes some of the pending commands. */
  take(which: (command: PendingCommand) => boolean): PendingCommand[] {
    const taken = this.list(which);
    for (const { id } of taken) this.#commands.delete(id);
    return taken;
  }

  /** Returns the same commands without removing them. */
  list(which: (command: PendingCommand) => boolean): PendingCommand[] {
    return [...this.#commands.values()].filter(which);
  }
}
