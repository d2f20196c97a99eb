import { NetworkBridge } from '../../../../src/cdp/bridge/bridge.ts';
import { listedBridge } from '../../../../src/cdp/bridge/bridge-factory.ts';
import { CarriedDownloads } from '../../../../src/cdp/files/carried-downloads.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';
import type { CdpMessage } from '../../../../src/cdp/transport/message.ts';
import { isOwnId } from '../../../../src/cdp/transport/own-commands.ts';
import { parseNetworkRules } from '../../../../src/options/network-rules.ts';

/** Where nobody listens: what is carried there fails at once, and needs no network. */
export const LISTED_ORIGIN = 'http://127.0.0.1:1';

/** A bridge between a Playwright and a browser that are both the test's: no process, no socket to either. */
export class ScriptedBrowser {
  /** What the bridge has sent to the browser. */
  readonly sent: CdpMessage[] = [];
  /** What the bridge has made up for Playwright. */
  readonly made: CdpMessage[] = [];
  readonly #list: InterceptorList;
  #said: CdpMessage | undefined;
  #isHeard = false;
  #command: CdpMessage | null = null;

  constructor() {
    this.#list = new InterceptorList(
      [
        listedBridge(NetworkBridge, parseNetworkRules('127.0.0.1:1'), {
          onCarried: () => {},
          downloads: new CarriedDownloads(),
        }),
      ],
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

  /** The browser says something. Returns whether Playwright hears of it. */
  says(message: CdpMessage): boolean {
    this.#said = message;
    this.#isHeard = false;
    this.#list.message(message);
    return this.#isHeard;
  }

  /** Playwright sends a command. Returns what the browser gets, null for nothing. */
  asked(command: CdpMessage): CdpMessage | null {
    this.#command = null;
    this.#list.command(command);
    return this.#command;
  }

  /** The names of the bindings that a session was given. */
  bindings(sessionId: string): string[] {
    return this.commands(sessionId, 'Runtime.addBinding').map(({ params }) => (params as { name: string }).name);
  }

  /** What the bridge has sent to one session. */
  commands(sessionId: string, method: string): CdpMessage[] {
    return this.sent.filter((message) => message.sessionId === sessionId && message.method === method);
  }

  /** How often the bridge has answered a stopped request. */
  answers(requestId: string): number {
    const methods = new Set(['Fetch.continueRequest', 'Fetch.fulfillRequest', 'Fetch.failRequest']);
    return this.sent.filter(
      ({ method = '', params }) => methods.has(method) && (params as { requestId: string }).requestId === requestId,
    ).length;
  }

  /** The WebSockets that were begun in a session. */
  sockets(sessionId: string): unknown[] {
    return this.#webSocket('Created')
      .filter((message) => message.sessionId === sessionId)
      .map(idOf);
  }

  /** Whether a WebSocket was begun and has not ended. */
  hasSocket(id: unknown): boolean {
    return id !== undefined && !this.#webSocket('Closed').some((message) => idOf(message) === id);
  }

  end(): void {
    this.#list.end();
  }

  /** It answers everything, and says nothing. */
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
