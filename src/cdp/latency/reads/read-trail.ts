import type { Savings } from '../../figures.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { PerSession } from '../../model/per-session.ts';
import { objectOf } from '../../model/remote-objects.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import type { PipelinedCommands } from '../pipelined-commands.ts';
import { UtilityWorlds } from '../utility-worlds.ts';
import { type Follower, type HabitKeys, isSame, type ReadHabits, tokenOf } from './read-habits.ts';

/** Events after which earlier reads of a document may be invalid: so is a barrier, when frames come or go. */
const INVALIDATING_EVENTS = /^(?:Page\.javascriptDialogOpening|Debugger\.paused|Inspector\.targetCrashed|Target\..*)$/;

/** A command of the client, and the reads that have followed it so far. */
export class ReadTrail {
  readonly keys: HabitKeys;
  /** Names of the browser's values, see {@link tokenOf}. */
  readonly names = new Map<string, string>();
  /** The same by name, including values that are only predicted. */
  readonly values = new Map<string, string>();
  /** Names of the values in the responses that the client waits for, by command ID. */
  readonly #results = new Map<number, string>();
  /** Followers that were sent early, and that the client has not sent itself. */
  #unasked: Follower[] = [];

  /** @param known values that have names already */
  constructor(head: CdpMessage, keys: HabitKeys, known: Readonly<Record<string, string>> = {}) {
    this.keys = keys;
    for (const [name, token] of Object.entries(known)) this.name(token, name);
    let count = 0;
    JSON.stringify(head.params, (field, value) => {
      const token = tokenOf(field, value);
      if (token !== null && !this.names.has(token)) this.name(token, `head ${count++}`);
      return value;
    });
    if (head.id !== undefined) this.#results.set(head.id, 'head');
  }

  /** The first name that a value gets stays: an object described twice is one node. */
  name(token: string, name: string): void {
    if (!this.names.has(token)) this.names.set(token, name);
    this.values.set(name, token);
  }

  /** A follower was sent early. */
  sent(follower: Follower): void {
    this.#unasked.push(follower);
  }

  /** The client sends a follower itself. @param id of its command */
  asked(follower: Follower, id: number | undefined): void {
    this.#unasked = this.#unasked.filter((sent) => !isSame(sent, follower));
    if (id !== undefined && follower.result !== null) this.#results.set(id, follower.result);
  }

  /** The client gets a response. Returns whether it contains a value that the client requested here. */
  responded(id: number, message: CdpMessage): boolean {
    const name = this.#results.get(id);
    const token = valueIn(message);
    if (!this.#results.delete(id) || name === undefined || token === null) return false;
    this.name(token, name);
    return true;
  }

  /** The client does something else: what was sent in vain loses worth. */
  end(): void {
    for (const follower of this.#unasked) follower.worth -= 1;
  }
}

/** What the client is doing in each session, and whether reads may be sent early there. */
export class ReadTrails<Trail extends ReadTrail> {
  readonly worlds: UtilityWorlds;
  readonly #transport: InterceptorTransport;
  readonly #savings: Savings;
  readonly #reads: PipelinedCommands;
  readonly #habits: ReadHabits;
  readonly #sessions: PerSession<{ trail?: Trail | undefined }>;

  constructor(transport: InterceptorTransport, savings: Savings, reads: PipelinedCommands, habits: ReadHabits) {
    this.worlds = new UtilityWorlds(transport.model);
    this.#transport = transport;
    this.#savings = savings;
    this.#reads = reads;
    this.#habits = habits;
    this.#sessions = new PerSession(transport.model, () => ({}));
  }

  /** Nothing will be sent early, so that nothing has to be learned. */
  get areOff(): boolean {
    return this.#savings.isNear && this.#reads.isIdle;
  }

  /** Takes a command. Returns whether it is the client's, in a session whose reads are learned. */
  observe(command: CdpMessage): command is CdpMessage & { sessionId: string } {
    if (this.areOff || !this.worlds.has(command.sessionId)) return false;
    this.worlds.onCommand(command);
    return true;
  }

  in(sessionId: string | undefined): Trail | undefined {
    return this.#sessions.of(sessionId)?.trail;
  }

  /** Returns whether reads may be sent behind the trail's first command: one could overtake an input event. */
  begin(sessionId: string, trail: Trail): boolean {
    Object.assign(this.#sessions.of(sessionId) ?? {}, { trail });
    const isFar = this.#savings.isFar && !this.worlds.isWatched(sessionId);
    return isFar && !this.#transport.isPending(({ method }) => method.startsWith('Input.'));
  }

  onEvent({ method = '', sessionId }: CdpMessage): void {
    if (sessionId !== undefined && INVALIDATING_EVENTS.test(method)) this.end(sessionId);
  }

  /** Reads in a session are no longer valid. */
  end(sessionId: string): void {
    this.#reads.drop((of) => of === sessionId);
    const state = this.#sessions.of(sessionId);
    if (!state?.trail) return;
    state.trail.end();
    this.#habits.meet(state.trail.keys);
    state.trail = undefined;
  }
}

/** The object or node in a response, see {@link tokenOf}; null if there is none. */
export function valueIn(message: CdpMessage): string | null {
  const { node } = fieldsOf<{ node: object }>(message.result);
  const { backendNodeId } = fieldsOf<{ backendNodeId: number }>(node);
  return tokenOf('backendNodeId', backendNodeId) ?? tokenOf('objectId', objectOf(message).objectId);
}
