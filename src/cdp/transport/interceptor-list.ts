import type { BrowserCommands, Interceptor, InterceptorFactory, InterceptorLink } from './interceptor.ts';
import type { CdpMessage } from './message.ts';
import { isOwnId, OwnCommands } from './own-commands.ts';

/** Where messages go that have passed all interceptors. */
export interface Ends {
  toBrowser(command: CdpMessage): void;
  toClient(message: CdpMessage): void;
}

/** The interceptors of one link, in their order from the client to the browser, and the way through them. */
export class InterceptorList {
  readonly #ends: Ends;
  readonly #own: OwnCommands;
  readonly #list: readonly Interceptor[];
  /** A command is on its way: its sender is not ready for a message yet. */
  #sending = false;

  constructor(factories: readonly InterceptorFactory[], ends: Ends) {
    this.#ends = ends;
    this.#own = new OwnCommands((command) => ends.toBrowser(command));
    this.#list = [...factories.map((create, position) => create(this.#linkAt(position))), this.#own];
  }

  /** A command of our own: no interceptor sees it or its answer. */
  readonly call: BrowserCommands['call'] = (method, params, sessionId) => this.#own.call(method, params, sessionId);

  /** A command of the client. */
  command(command: CdpMessage): void {
    this.#toBrowser(command, 0);
  }

  /** An answer or event of the browser. */
  message(message: CdpMessage): void {
    this.#toClient(message, this.#list.length - 1);
  }

  /** The link is down. */
  end(): void {
    // Own commands first: whatever waits for an answer is told that none will come.
    for (let position = this.#list.length - 1; position >= 0; position--) this.#list[position]?.end?.();
  }

  #linkAt(position: number): InterceptorLink {
    return {
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
      this.#ends.toBrowser(passed);
    } finally {
      this.#sending = outer;
    }
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
    // An answer that the client has not asked for would make it throw.
    if (!isOwnId(passed.id)) this.#ends.toClient(passed);
  }
}
