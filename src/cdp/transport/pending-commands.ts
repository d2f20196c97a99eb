import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from './message.ts';

/** A session that the browser has announced. */
interface Session {
  /** The session that it was announced in. */
  parent: string | undefined;
  targetId: unknown;
}

/** Commands without a response yet. The sessions that they are in are known by their events. */
export class PendingCommands {
  readonly #commands = new Map<number, CdpMessage>();
  readonly #sessions = new Map<string, Session>();

  add(command: CdpMessage): void {
    // Not the command itself: an upload has many MB.
    const { id, method, sessionId } = command;
    if (id !== undefined) this.#commands.set(id, { id, method, sessionId });
  }

  /** A response. Returns whether it is the first to a pending command, which is not pending any more. */
  settle(id: number): boolean {
    return this.#commands.delete(id);
  }

  /**
   * An event. Returns the commands that were pending in the sessions that it ends, and are not any more. The browser
   * announces the end of a session, but not that of the sessions that were announced in it.
   */
  onEvent({ method, params, sessionId: parent }: CdpMessage): CdpMessage[] {
    if (method === 'Target.attachedToTarget') {
      const { sessionId, targetInfo } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(params);
      const { targetId } = fieldsOf<Protocol.Target.TargetInfo>(targetInfo);
      if (typeof sessionId === 'string') this.#sessions.set(sessionId, { parent, targetId });
    }
    if (method !== 'Target.detachedFromTarget') return [];
    const { sessionId } = fieldsOf<Protocol.Target.DetachedFromTargetEvent>(params);
    return typeof sessionId === 'string' ? this.#take(this.#end(sessionId)) : [];
  }

  /** A session's target has crashed. Returns the commands that were pending in all of its sessions but those of `except`. */
  takeCrashed(crashed: string, except: ReadonlySet<string>): CdpMessage[] {
    const targetId = this.#sessions.get(crashed)?.targetId;
    const all = [...this.#sessions].filter(([, session]) => targetId !== undefined && session.targetId === targetId);
    return this.#take(new Set([crashed, ...all.map(([sessionId]) => sessionId)]), except);
  }

  /** Forgets a session and those that were announced in it. Returns all of them. */
  #end(sessionId: string, ended = new Set<string>()): Set<string> {
    ended.add(sessionId);
    this.#sessions.delete(sessionId);
    for (const [child, { parent }] of this.#sessions) if (parent === sessionId) this.#end(child, ended);
    return ended;
  }

  #take(sessions: ReadonlySet<string>, except?: ReadonlySet<string>): CdpMessage[] {
    const taken: CdpMessage[] = [];
    for (const [id, command] of this.#commands) {
      if (command.sessionId === undefined || !sessions.has(command.sessionId)) continue;
      if (except?.has(command.method ?? '')) continue;
      this.#commands.delete(id);
      taken.push(command);
    }
    return taken;
  }
}
