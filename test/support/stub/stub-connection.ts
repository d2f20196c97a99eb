import type { CdpClient } from '../../../src/emulator/cdp/cdp-clients.ts';
import { type ClientCommand, readCommand, SESSION_NOT_FOUND } from '../../../src/emulator/cdp/client-command.ts';
import { acknowledge, CdpError, type Params, type Result } from './protocol.ts';
import { type CommandTarget, type SessionHost, StubSession, type StubTarget } from './stub-session.ts';

/** One client of a stub browser, and its sessions. */
export class StubConnection implements SessionHost {
  readonly root: StubSession = new StubSession(this);
  readonly #sessions = new Map<string | undefined, StubSession>([[undefined, this.root]]);
  readonly #client: CdpClient;
  readonly #browser: CommandTarget;
  #heldBack: string[] | undefined;

  constructor(client: CdpClient, browser: CommandTarget) {
    this.#client = client;
    this.#browser = browser;
  }

  get sessions(): StubSession[] {
    return [...this.#sessions.values()];
  }

  send(message: object): void {
    const text = JSON.stringify(message);
    if (this.#heldBack) this.#heldBack.push(text);
    else this.#client.send(text);
  }

  open(parent: StubSession, page?: StubTarget): StubSession {
    const session = new StubSession(this, parent, page);
    this.#sessions.set(session.id, session);
    return session;
  }

  close(session: StubSession): void {
    this.#sessions.delete(session.id);
  }

  /** Reads nothing, pings included, and sends nothing, like a frozen process. */
  stall(): void {
    this.#heldBack ??= [];
    this.#client.pause();
  }

  resume(): void {
    const texts = this.#heldBack ?? [];
    this.#heldBack = undefined;
    for (const text of texts) this.#client.send(text);
    this.#client.resume();
  }

  /** The browser has ended. */
  end(): void {
    this.#client.end();
  }

  receive(message: Buffer): void {
    const command = readCommand(message);
    if ('error' in command) {
      this.send(command);
      return;
    }
    const { id } = command;
    const session = this.#sessions.get(command.sessionId);
    if (!session) {
      this.send({ id, error: SESSION_NOT_FOUND });
      return;
    }
    const sessionId = session.id;
    const succeed = (result: Result) => this.send({ id, sessionId, result });
    const fail = (error: Error) => {
      const code = error instanceof CdpError ? error.code : -32_602;
      this.send({ id, sessionId, error: { code, message: error.message } });
    };
    try {
      const response = this.#respond(command, session);
      // At once where it can be: clients rely on the order of responses and events.
      if (response instanceof Promise) response.then(succeed).catch(fail);
      else succeed(response);
    } catch (error) {
      fail(error as Error);
    }
  }

  #respond({ method, params }: ClientCommand, session: StubSession): Result | Promise<Result> {
    const given = (params ?? {}) as Params;
    return (
      session.page?.handle(method, given, session) ??
      this.#browser.handle(method, given, session) ??
      acknowledge(method)
    );
  }
}
