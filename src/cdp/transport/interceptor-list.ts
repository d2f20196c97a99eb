import { setImmediate } from '../../common/clock.ts';
import type { CdpMessage } from '../message.ts';
import { BrowserModel } from '../model/browser-model.ts';
import { ClientView } from '../model/client-view.ts';
import type { BrowserCommands, Interceptor, InterceptorFactory, InterceptorTransport } from './interceptor.ts';
import { OwedResponses } from './owed-responses.ts';
import { isOwnId, OwnCommands } from './own-commands.ts';

/** Where messages go after they have passed all interceptors. */
export interface Ends {
  toBrowser(command: CdpMessage): void;
  toClient(message: CdpMessage): void;
}

/**
 * The interceptors of one connection, in order from the client to the browser. Each command gets exactly one response,
 * whatever the interceptors do with it ({@link OwedResponses}). {@link ClientView} decides which events the client
 * gets.
 */
export class InterceptorList {
  readonly #ends: Ends;
  readonly #own: OwnCommands;
  readonly #list: readonly Interceptor[];
  readonly #model = new BrowserModel();
  readonly #view: ClientView;
  readonly #owed: OwedResponses;
  /** A command is being sent: its sender is not ready for a message yet. */
  #sending = false;

  constructor(factories: readonly InterceptorFactory[], ends: Ends) {
    this.#ends = ends;
    this.#own = new OwnCommands((command) => this.#send(command));
    const { post, call } = this.#own;
    this.#view = new ClientView(this.#model, {
      toClient: (message) => this.#deliver(message),
      ended: (sessionIds) => this.#owed.ended(sessionIds),
      letGo: ({ id, parent }) => {
        post('Runtime.runIfWaitingForDebugger', {}, id);
        post('Target.detachFromTarget', { sessionId: id }, parent?.id);
      },
    });
    this.#owed = new OwedResponses(this.#model, call, {
      fromBrowser: (response) => this.#toClient(response, this.#list.length - 1),
      toClient: (response) => this.#deliver(response),
    });
    this.#list = [...factories.map((create, position) => create(this.#transportAt(position))), this.#own];
  }

  /** Sends our own command: no interceptor sees it or its response. */
  readonly call: BrowserCommands['call'] = (method, params, sessionId) => this.#own.call(method, params, sessionId);

  command(command: CdpMessage): void {
    this.#owed.asked(command);
    this.#toBrowser(command, 0);
  }

  /** Takes a response or event from the browser. */
  message(message: CdpMessage): void {
    if (!this.#owed.accepts(message)) return;
    this.#model.before(message);
    if (!this.#view.takes(message)) this.#toClient(message, this.#list.length - 1);
    this.#model.after(message);
    this.#owed.passed(message);
  }

  /** The connection has closed. */
  end(): void {
    // Our own commands first: reject whatever still waits for a response.
    for (let position = this.#list.length - 1; position >= 0; position--) this.#list[position]?.end?.();
    this.#model.end();
  }

  #transportAt(position: number): InterceptorTransport {
    return {
      model: this.#model,
      view: this.#view,
      call: this.#own.call,
      post: this.#own.post,
      isPending: (which) => this.#owed.isPending(which),
      deliver: (message) => {
        if (this.#sending) setImmediate(() => this.#toClient(message, position - 1));
        else this.#toClient(message, position - 1);
      },
      pass: (command) => this.#toBrowser(command, position + 1),
      send: (command) => {
        const id = this.#own.newSentId();
        this.#toBrowser({ ...command, id }, position + 1);
        return id;
      },
    };
  }

  #toBrowser(command: CdpMessage, first: number): void {
    const outer = this.#sending;
    this.#sending = true;
    try {
      let passed = command;
      for (let position = first; position < this.#list.length; position++) {
        const interceptor = this.#list[position];
        if (!interceptor?.onCommand) continue;
        const next = interceptor.onCommand(passed);
        if (next === null) return;
        passed = next;
      }
      this.#send(passed);
    } finally {
      this.#sending = outer;
    }
  }

  #send(command: CdpMessage): void {
    this.#owed.sent(command);
    this.#view.sent(command, isOwnId(command.id));
    this.#ends.toBrowser(command);
  }

  #toClient(message: CdpMessage, first: number): void {
    let passed = message;
    for (let position = first; position >= 0; position--) {
      const interceptor = this.#list[position];
      if (!interceptor?.onMessage) continue;
      const next = interceptor.onMessage(passed);
      if (next === null) return;
      passed = next;
    }
    this.#view.deliver(passed);
  }

  #deliver(message: CdpMessage): void {
    // Playwright throws on a response to a command that it is not waiting for.
    if (!this.#owed.admits(message)) return;
    this.#ends.toClient(message);
  }
}
