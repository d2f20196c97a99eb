import * as v from 'valibot';
import type { CdpPipe } from './cdp-pipe.ts';
import { readCommand, SESSION_NOT_FOUND } from './client-command.ts';
import { sessionInTail, withIdAtHead, withoutTail } from './message-bytes.ts';

/** A client's socket, as far as it is needed here. */
export interface CdpClient {
  /** One whole message, as UTF-8. */
  send(message: Buffer | string): void;
  /** The browser has ended: to be closed when all that was sent is out. */
  end(): void;
  /** Nothing is read from it until `resume`. */
  pause(): void;
  resume(): void;
}

/** One client's connection to the browser. */
export interface CdpSeat {
  /** Connects the client. Its messages go to `receive` of the result. */
  take(client: CdpClient): { receive(message: Buffer): void };
  /** The client has left, or never came. */
  leave(): void;
}

interface Seat {
  /** The client's browser-level session, which it sees as the socket itself. */
  root: string;
  /** The sessions below it. */
  sessions: Set<string>;
  /** Its commands without a response, by their IDs on the pipe. */
  pending: Set<number>;
  client: CdpClient | undefined;
}

const attached = v.looseObject({ sessionId: v.string() });
const attachEvent = v.looseObject({ params: v.looseObject({ sessionId: v.string() }) });
const ATTACHED = Buffer.from('{"method":"Target.attachedToTarget"');
const DETACHED = Buffer.from('{"method":"Target.detachedFromTarget"');

/**
 * Many clients on Chromium's one pipe. Each has its own browser-level session, which behaves like a separate socket:
 * it has its own settings, targets and contexts, gone when it leaves. Chromium has no port that others could come in
 * by.
 */
export class CdpClients {
  readonly #pipe: CdpPipe;
  readonly #asClientsSee: (message: Buffer) => Buffer;
  readonly #seats = new Set<Seat>();
  /** The client of each session. Responses need no look-up: each command has a unique ID on the pipe. */
  readonly #bySession = new Map<string, Seat>();
  #isStalled = false;

  /** @param asClientsSee returns a message of Chromium's as clients get it */
  constructor(pipe: CdpPipe, asClientsSee: (message: Buffer) => Buffer = (message) => message) {
    this.#pipe = pipe;
    this.#asClientsSee = asClientsSee;
    pipe.giveTo((message) => this.#deliver(message));
    void pipe.closed.then(() => this.#end());
  }

  /** Resolves when the browser can accept one more client, which it cannot while it is frozen. */
  async reserve(): Promise<CdpSeat> {
    const { sessionId } = v.parse(attached, await this.#pipe.send('Target.attachToBrowserTarget'));
    const seat: Seat = { root: sessionId, sessions: new Set([sessionId]), pending: new Set(), client: undefined };
    this.#seats.add(seat);
    this.#bySession.set(sessionId, seat);
    return {
      take: (client) => {
        seat.client = client;
        if (this.#isStalled) client.pause();
        return { receive: (message) => this.#receive(seat, message) };
      },
      leave: () => this.#leave(seat),
    };
  }

  /** The browser freezes: it reads nothing that clients send, pings included. */
  stall(): void {
    this.#isStalled = true;
    for (const { client } of this.#seats) client?.pause();
  }

  resume(): void {
    this.#isStalled = false;
    for (const { client } of this.#seats) client?.resume();
  }

  #leave(seat: Seat): void {
    if (!this.#seats.delete(seat)) return;
    for (const sessionId of seat.sessions) this.#bySession.delete(sessionId);
    for (const id of seat.pending) this.#pipe.forget(id);
    // This also removes its contexts.
    this.#pipe.send('Target.detachFromTarget', { sessionId: seat.root }).catch(() => undefined);
  }

  #end(): void {
    const seats = [...this.#seats];
    this.#seats.clear();
    this.#bySession.clear();
    for (const { client } of seats) client?.end();
  }

  /** An event of Chromium's. */
  #deliver(event: Buffer): void {
    const sessionId = sessionInTail(event);
    const seat = sessionId === undefined ? undefined : this.#bySession.get(sessionId);
    if (!seat) return;
    if (startsWith(event, ATTACHED)) this.#add(seat, childOf(event));
    else if (startsWith(event, DETACHED)) this.#forget(seat, childOf(event));
    seat.client?.send(asOnSocket(seat, this.#asClientsSee(event)));
  }

  #add(seat: Seat, sessionId: string): void {
    seat.sessions.add(sessionId);
    this.#bySession.set(sessionId, seat);
  }

  #forget(seat: Seat, sessionId: string): void {
    seat.sessions.delete(sessionId);
    this.#bySession.delete(sessionId);
  }

  /**
   * A client's message. It is parsed and written anew, so that Chromium gets exactly one command, in a session of this
   * client.
   */
  #receive(seat: Seat, message: Buffer): void {
    const command = readCommand(message);
    if ('error' in command) {
      seat.client?.send(JSON.stringify(command));
      return;
    }
    const { id, sessionId = seat.root } = command;
    if (command.sessionId !== undefined && !isOpenTo(seat, sessionId)) {
      seat.client?.send(JSON.stringify({ id, error: SESSION_NOT_FOUND }));
      return;
    }
    const pipeId = this.#pipe.post({ ...command, sessionId }, (response) => {
      seat.pending.delete(pipeId);
      seat.client?.send(withIdAtHead(asOnSocket(seat, this.#asClientsSee(response)), id));
    });
    seat.pending.add(pipeId);
  }
}

/** The message without the root session, which the client does not know of. */
function asOnSocket(seat: Seat, message: Buffer): Buffer {
  return sessionInTail(message) === seat.root ? withoutTail(message, seat.root) : message;
}

/** Another client's session is as unknown to it as one that never was; so is its root, which it does not know of. */
function isOpenTo(seat: Seat, sessionId: string): boolean {
  return seat.sessions.has(sessionId) && sessionId !== seat.root;
}

function startsWith(message: Buffer, start: Buffer): boolean {
  return message.length > start.length && message.compare(start, 0, start.length, 0, start.length) === 0;
}

function childOf(event: Buffer): string {
  return v.parse(attachEvent, JSON.parse(event.toString())).params.sessionId;
}
