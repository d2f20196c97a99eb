import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf, parseMessage } from '../cdp/message.ts';
import type { CdpTransport } from '../cdp/transport/transport.ts';
import { PoolwrightError } from '../errors.ts';
import { redactText } from '../redact.ts';

/** One WebSocket of a tool. */
export interface ToolSocket {
  receive(text: string): void;
  /** The browser, or the page that it is connected to, is gone. */
  end(reason: string): void;
}

/** A tool on the connection to the browser. */
export interface ToolClient {
  send(text: string): void;
  /** The tool has disconnected. Calling it again has no effect. */
  close(): void;
}

interface Member {
  socket: ToolSocket;
  /** The session that is its root; undefined: that of the connection. */
  session: string | undefined;
}

interface Pending {
  /** ID and session as its sender knows them. */
  id: number;
  sessionId: string | undefined;
  member: Member | null;
  /** Of commands that this class sends itself. */
  settle?: (message: CdpMessage) => void;
}

/** Far above what tools count to, and within the 32 bits that Chromium accepts. */
const FIRST_OWN_ID = 1_500_000_000;

/**
 * The tools that share one connection to a browser. One of them uses the connection as it is; each other one has a
 * separate session on the browser or a page, which is its root: it sees no session IDs of others.
 */
export class BrowserClients {
  readonly #transport: CdpTransport;
  readonly #pending = new Map<number, Pending>();
  /** Sessions by ID, with the tool that has opened them. */
  readonly #sessions = new Map<string, Member>();
  readonly #members = new Set<Member>();
  /** Sessions that we open and whose announcement is due, by target; null: the browser. */
  readonly #announced: { targetId: string | null; member: Member }[] = [];
  #root: Member | null = null;
  /** Resolves when the next tool may use the connection as it is. Never rejects. */
  #vacated = Promise.resolve();
  #lastId = 0;
  #isEnded = false;

  /** @param onBrowserClose a tool closes the browser: its lease ends */
  constructor(transport: CdpTransport, onBrowserClose: () => void) {
    this.#transport = transport;
    this.#onBrowserClose = onBrowserClose;
    transport.onmessage = (message, text) => this.#receive(message, text);
    transport.onclose = (reason) => this.#end(reason ?? 'The connection to the browser closed.');
  }

  readonly #onBrowserClose: () => void;

  /**
   * Adds a tool that speaks to the browser. It uses the connection as it is, unless another tool does: only there,
   * the interceptors take the pages for the client's, and proxy their requests to this machine.
   * @throws PoolwrightError `ABORTED` when the connection closes
   */
  async addToBrowser(socket: ToolSocket): Promise<ToolClient> {
    await this.#vacated;
    if (this.#root) return await this.addToTarget(socket, null);
    const member: Member = { socket, session: undefined };
    this.#root = member;
    return this.#add(member);
  }

  /**
   * Adds a tool that speaks to one target, in a separate session.
   * @param targetId null: the browser
   * @throws PoolwrightError `ABORTED` when there is no such target
   */
  async addToTarget(socket: ToolSocket, targetId: string | null): Promise<ToolClient> {
    const member: Member = { socket, session: '' };
    const announced = { targetId, member };
    this.#announced.push(announced);
    try {
      const { sessionId } = fieldsOf<Protocol.Target.AttachToTargetResponse>(
        targetId === null
          ? await this.call('Target.attachToBrowserTarget')
          : await this.call('Target.attachToTarget', { targetId, flatten: true }),
      );
      member.session = String(sessionId);
      this.#sessions.set(member.session, member);
      return this.#add(member);
    } finally {
      const position = this.#announced.indexOf(announced);
      if (position >= 0) this.#announced.splice(position, 1);
    }
  }

  /** Sends a command of this process. @throws PoolwrightError `ABORTED` with the browser's error, or when it is gone */
  async call(method: string, params: object = {}, sessionId?: string): Promise<unknown> {
    if (this.#isEnded) throw new PoolwrightError('ABORTED', `${method}: the connection to the browser is closed.`);
    const { error, result } = await new Promise<CdpMessage>((settle) => {
      const id = this.#freeId();
      this.#pending.set(id, { id, sessionId, member: null, settle });
      this.#transport.send({ id, method, params, ...(sessionId !== undefined && { sessionId }) });
    });
    if (error) throw new PoolwrightError('ABORTED', `${method}: ${redactText(String(error.message))}`);
    return result;
  }

  /** Whether the connection to the browser is open. */
  get isOpen(): boolean {
    return !this.#isEnded;
  }

  /** Closes the connection. The browser keeps running. */
  close(): void {
    this.#transport.close();
  }

  #add(member: Member): ToolClient {
    this.#members.add(member);
    return {
      send: (text) => this.#send(member, text),
      close: () => {
        if (!this.#members.delete(member)) return;
        const opened = [...this.#sessions].flatMap(([id, owner]) => (owner === member ? [id] : []));
        for (const id of opened) this.#sessions.delete(id);
        for (const [id, { member: sender }] of this.#pending) if (sender === member) this.#pending.delete(id);
        const { session } = member;
        // Ends the sessions on it, too.
        if (session) this.call('Target.detachFromTarget', { sessionId: session }).catch(() => undefined);
        else this.#vacated = this.#vacate(opened);
      },
    };
  }

  /** Undoes what a tool on the connection has turned on: new pages would wait for its commands. Never rejects. */
  async #vacate(sessionIds: readonly string[]): Promise<void> {
    await Promise.allSettled([
      this.call('Target.setAutoAttach', { autoAttach: false, waitForDebuggerOnStart: false, flatten: true }),
      this.call('Target.setDiscoverTargets', { discover: false }),
      ...sessionIds.map((sessionId) => this.call('Target.detachFromTarget', { sessionId })),
    ]);
    this.#root = null;
  }

  #send(member: Member, text: string): void {
    const command = parseMessage(text);
    if (command === null || typeof command.id !== 'number') {
      member.socket.end('A message was not a command of the Chrome DevTools Protocol.');
      return;
    }
    const { id, method, sessionId } = command;
    const reply = (rest: Partial<CdpMessage>) =>
      member.socket.receive(JSON.stringify({ id, ...rest, ...(sessionId !== undefined && { sessionId }) }));
    if (sessionId !== undefined && this.#sessions.get(sessionId) !== member) {
      reply({ error: { code: -32001, message: 'Session with given id not found.' } });
      return;
    }
    if (method === 'Browser.close') {
      reply({ result: {} });
      this.#onBrowserClose();
      return;
    }
    // Two tools, or Puppeteer 22 in two sessions, may use the same ID.
    const sentId = this.#pending.has(id) || id >= FIRST_OWN_ID ? this.#freeId() : id;
    this.#pending.set(sentId, { id, sessionId, member });
    const session = sessionId ?? member.session;
    if (sentId === id && session === sessionId) this.#transport.send(command, text);
    else this.#transport.send({ ...command, id: sentId, ...(session !== undefined && { sessionId: session }) });
  }

  #receive(message: CdpMessage, text: string | undefined): void {
    if (message.id !== undefined) this.#respond(message, message.id, text);
    else this.#notify(message, text);
  }

  #respond(message: CdpMessage, sentId: number, text: string | undefined): void {
    const pending = this.#pending.get(sentId);
    if (!pending) return;
    this.#pending.delete(sentId);
    const { id, sessionId, member, settle } = pending;
    settle?.(message);
    if (!member) return;
    const isSame = id === sentId && sessionId === message.sessionId;
    member.socket.receive(
      isSame && text !== undefined ? text : JSON.stringify(withSession({ ...message, id }, sessionId)),
    );
  }

  #notify(message: CdpMessage, text: string | undefined): void {
    const { method, params, sessionId: over } = message;
    const owner = over === undefined ? this.#root : this.#sessions.get(over);
    if (method === 'Target.attachedToTarget') {
      const { sessionId, targetInfo } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(params);
      if (over === undefined && this.#isOurs(String(sessionId), targetInfo)) return;
      if (owner) this.#sessions.set(String(sessionId), owner);
    }
    if (method === 'Target.detachedFromTarget') {
      const sessionId = String(fieldsOf<Protocol.Target.DetachedFromTargetEvent>(params).sessionId);
      const ended = this.#sessions.get(sessionId);
      this.#sessions.delete(sessionId);
      if (ended?.session === sessionId) {
        ended.socket.end('The page was closed.');
        return;
      }
      this.#forget(sessionId);
    }
    if (!owner) return;
    const isRoot = over === owner.session;
    owner.socket.receive(
      (!isRoot || over === undefined) && text !== undefined
        ? text
        : JSON.stringify(withSession(message, isRoot ? undefined : over)),
    );
  }

  /** Whether a session is one that we are opening. Its ID arrives before the response that contains it. */
  #isOurs(sessionId: string, targetInfo: unknown): boolean {
    const { targetId, type } = fieldsOf<Protocol.Target.TargetInfo>(targetInfo);
    const found = this.#announced.findIndex((each) => each.targetId === (type === 'browser' ? null : targetId));
    const [announced] = found < 0 ? [] : this.#announced.splice(found, 1);
    if (!announced) return false;
    announced.member.session = sessionId;
    this.#sessions.set(sessionId, announced.member);
    return true;
  }

  /** Commands in a session that has ended may get no response. */
  #forget(sessionId: string): void {
    for (const [id, pending] of this.#pending) {
      if (pending.sessionId !== sessionId) continue;
      this.#pending.delete(id);
      pending.settle?.({ id, error: { message: 'The page was closed.' } });
    }
  }

  #end(reason: string): void {
    this.#isEnded = true;
    const error = { message: reason };
    for (const { id, settle } of this.#pending.values()) settle?.({ id, error });
    this.#pending.clear();
    for (const { socket } of this.#members) socket.end(reason);
    this.#members.clear();
  }

  #freeId(): number {
    this.#lastId = (this.#lastId + 1) % 500_000_000;
    return FIRST_OWN_ID + this.#lastId;
  }
}

function withSession({ sessionId: _sessionId, ...message }: CdpMessage, sessionId: string | undefined): CdpMessage {
  return sessionId === undefined ? message : { ...message, sessionId };
}
