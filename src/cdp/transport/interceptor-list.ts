import type { Protocol } from 'devtools-protocol';
import { BrowserModel } from '../model/browser-model.ts';
import { withDescendants } from '../model/session.ts';
import { BrowserResponses } from './browser-responses.ts';
import type { BrowserCommands, Interceptor, InterceptorFactory, InterceptorLink } from './interceptor.ts';
import { type CdpMessage, fieldsOf } from './message.ts';
import { OwnCommands } from './own-commands.ts';
import { PendingCommands } from './pending-commands.ts';

/** Where messages go that have passed all interceptors. */
export interface Ends {
  toBrowser(command: CdpMessage): void;
  toClient(message: CdpMessage): void;
}

/**
 * The interceptors of one link, in their order from the client to the browser, and the way through them. Each command gets
 * one response, whatever becomes of it on that way: at the browser's end {@link BrowserResponses} gives those that the
 * browser owes, at the client's end nothing passes but the first response to a command that waits for one.
 */
export class InterceptorList {
  readonly #ends: Ends;
  readonly #own: OwnCommands;
  readonly #list: readonly Interceptor[];
  readonly #model = new BrowserModel();
  readonly #browser: BrowserResponses;
  /** The client's. It ends those of a session itself when it hears that the session is over. */
  readonly #pending = new PendingCommands();
  /** A command is on its way: its sender is not ready for a message yet. */
  #sending = false;

  constructor(factories: readonly InterceptorFactory[], ends: Ends) {
    this.#ends = ends;
    this.#own = new OwnCommands((command) => this.#send(command));
    this.#browser = new BrowserResponses(this.#model, this.#own.call, (response) => {
      this.#toClient(response, this.#list.length - 1);
    });
    this.#list = [...factories.map((create, position) => create(this.#linkAt(position))), this.#own];
  }

  /** A command of our own: no interceptor sees it or its answer. */
  readonly call: BrowserCommands['call'] = (method, params, sessionId) => this.#own.call(method, params, sessionId);

  /** A command of the client. */
  command(command: CdpMessage): void {
    this.#pending.add(command);
    this.#toBrowser(command, 0);
  }

  /** An answer or event of the browser. */
  message(message: CdpMessage): void {
    if (!this.#browser.accepts(message)) return;
    this.#model.before(message);
    this.#toClient(message, this.#list.length - 1);
    this.#model.after(message);
    this.#browser.passed(message);
  }

  /** The link is down. */
  end(): void {
    // Own commands first: whatever waits for an answer is told that none will come.
    for (let position = this.#list.length - 1; position >= 0; position--) this.#list[position]?.end?.();
    this.#model.end();
  }

  #linkAt(position: number): InterceptorLink {
    return {
      model: this.#model,
      call: this.#own.call,
      post: this.#own.post,
      deliver: (message) => {
        if (this.#sending) setImmediate(() => this.#toClient(message, position - 1));
        else this.#toClient(message, position - 1);
      },
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
    this.#browser.sent(command);
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
    // A response that the client does not wait for would make it throw.
    if (passed.id !== undefined && !this.#pending.settle(passed.id)) return;
    this.#ends.toClient(passed);
    if (passed.method?.startsWith('Target.')) this.#shown(passed);
  }

  /** The client has been told of a target: of a session that is over, it ends its commands itself. */
  #shown({ method, params }: CdpMessage): void {
    const { sessionId } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(params);
    const session = this.#model.session(sessionId);
    if (method === 'Target.attachedToTarget' && session) session.isShown = true;
    if (method !== 'Target.detachedFromTarget') return;
    const over = session ? withDescendants(session) : [];
    for (const each of over) each.isShown = false;
    this.#pending.take([String(sessionId), ...over.map(({ id }) => id)]);
  }
}
