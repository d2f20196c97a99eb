import type { CdpMessage } from '../../../../src/cdp/message.ts';
import { Network } from '../../../../src/cdp/network/network.ts';
import { NetworkProxy } from '../../../../src/cdp/network/network-proxy.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';
import { isOwnId } from '../../../../src/cdp/transport/own-commands.ts';
import { parseNetworkRules } from '../../../../src/options/network-rules.ts';

/** An address without a listener: a request that is carried there fails at once, without a network. */
export const LISTED_ORIGIN = 'http://127.0.0.1:2';

/** The transport between a Playwright and a browser that the test plays: no process and no socket on either side. */
export class ScriptedBrowser {
  /** Messages that the proxy has sent to the browser. */
  readonly sent: CdpMessage[] = [];
  /** Messages that the proxy has created for Playwright. */
  readonly made: CdpMessage[] = [];
  readonly #list: InterceptorList;
  #said: CdpMessage | undefined;
  #isHeard = false;
  #command: CdpMessage | null = null;

  constructor() {
    this.#list = new InterceptorList(
      [(link) => new Network(link, { proxiedHosts: parseNetworkRules('127.0.0.1:2') }, NetworkProxy)],
      {
        toBrowser: (command) => {
          if (isOwnId(command.id)) this.#answer(command);
          else this.#command = command;
        },
        toClient: (message) => {
          if (message === this.#said) this.#isHeard = true;
          else this.made.push(message);
        },
      },
    );
  }

  /** The browser sends a message. Returns whether Playwright receives it. */
  says(message: CdpMessage): boolean {
    this.#said = message;
    this.#isHeard = false;
    this.#list.message(message);
    return this.#isHeard;
  }

  /** Playwright sends a command. Returns the command that the browser receives, or null. */
  asked(command: CdpMessage): CdpMessage | null {
    this.#command = null;
    this.#list.command(command);
    return this.#command;
  }

  /** Returns the names of a session's bindings. */
  bindings(sessionId: string): string[] {
    return this.commands(sessionId, 'Runtime.addBinding').map(({ params }) => (params as { name: string }).name);
  }

  /** Returns the commands that the proxy has sent to one session. */
  commands(sessionId: string, method: string): CdpMessage[] {
    return this.sent.filter((message) => message.sessionId === sessionId && message.method === method);
  }

  /** Returns how often the proxy has resolved a paused request. */
  answers(requestId: string): number {
    const methods = new Set(['Fetch.continueRequest', 'Fetch.fulfillRequest', 'Fetch.failRequest']);
    return this.sent.filter(
      ({ method = '', params }) => methods.has(method) && (params as { requestId: string }).requestId === requestId,
    ).length;
  }

  /** Returns the WebSockets that were opened in a session. */
  sockets(sessionId: string): unknown[] {
    return this.#webSocket('Created')
      .filter((message) => message.sessionId === sessionId)
      .map(idOf);
  }

  /** Whether a WebSocket was opened and is still open. */
  hasSocket(id: unknown): boolean {
    return id !== undefined && !this.#webSocket('Closed').some((message) => idOf(message) === id);
  }

  end(): void {
    this.#list.end();
  }

  /** It responds to everything and sends no events. */
  #answer(command: CdpMessage): void {
    this.sent.push(command);
    queueMicrotask(() => this.#list.message({ id: command.id ?? 0, result: {} }));
  }

  #webSocket(event: string): CdpMessage[] {
    return this.made.filter(({ method }) => method === `Network.webSocket${event}`);
  }
}

function idOf({ params }: CdpMessage): unknown {
  return (params as { requestId: unknown }).requestId;
}
