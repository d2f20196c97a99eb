import type { CdpSeat } from '../../../src/emulator/cdp/cdp-clients.ts';
import type { BrowserExit } from '../../../src/emulator/chromium/browser-process.ts';
import { EmulatorError } from '../../../src/errors.ts';
import { type Flaw, showFlaw } from './flaws.ts';
import type { Params, Result } from './protocol.ts';
import { StubConnection } from './stub-connection.ts';
import type { CommandTarget, StubSession } from './stub-session.ts';
import { StubTargets } from './stub-targets.ts';

const VERSION = '140.0.0.0';
const USER_AGENT = `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/${VERSION} Safari/537.36`;
/** A Chromium takes a moment to close, in which it sends the response to `Browser.close`. */
const CLOSE_MS = 50;

/** In-memory fake browser: targets and clients. The process that it represents can crash and freeze. */
export class StubBrowser implements CommandTarget {
  /** Settles when it has ended. */
  readonly exited: Promise<BrowserExit>;
  readonly #targets: StubTargets;
  readonly #connections = new Set<StubConnection>();
  #settle: (exit: BrowserExit) => void = () => undefined;
  #hasEnded = false;
  /** Set while it is frozen. */
  #stalled: { over: Promise<void>; end: () => void } | undefined;

  readonly #flaw: Flaw | undefined;

  constructor(url = 'about:blank', flaw?: Flaw) {
    this.#flaw = flaw;
    this.#targets = new StubTargets(USER_AGENT, url);
    this.exited = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Bytes of the documents that its pages were given. */
  get bytes(): number {
    return this.#targets.bytes;
  }

  /** Resolves as soon as it can accept one more client, which it cannot while it is frozen. */
  async reserve(): Promise<CdpSeat> {
    await this.#stalled?.over;
    if (this.#hasEnded) throw new EmulatorError('EMULATOR_START_FAILED', 'The browser has ended.');
    let connection: StubConnection | undefined;
    return {
      take: (client) => {
        connection = new StubConnection(client, this);
        this.#connections.add(connection);
        this.#targets.addClient(connection);
        if (this.#stalled) connection.stall();
        if (this.#hasEnded) connection.end();
        return connection;
      },
      leave: () => {
        if (!connection) return;
        this.#connections.delete(connection);
        this.#targets.removeClient(connection);
      },
    };
  }

  /** Ends at once, like a process. */
  end(exit: BrowserExit): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const connection of this.#connections) connection.end();
    this.#stalled?.end();
    this.#settle(exit);
  }

  stall(): void {
    if (this.#stalled || this.#hasEnded) return;
    let end: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#stalled = { over, end };
    for (const connection of this.#connections) connection.stall();
  }

  resume(): void {
    this.#stalled?.end();
    this.#stalled = undefined;
    for (const connection of this.#connections) connection.resume();
  }

  handle(method: string, params: Params, session: StubSession): Result | undefined {
    if (this.#flaw) showFlaw(this.#flaw, method, session);
    return this.#handlers[method]?.() ?? this.#targets.handle(method, params, session);
  }

  readonly #handlers: Record<string, () => Result> = {
    'Browser.getVersion': () => ({
      protocolVersion: '1.3',
      product: `Chrome/${VERSION}`,
      revision: 'stub',
      userAgent: USER_AGENT,
      jsVersion: process.versions.v8,
    }),
    'Browser.getWindowForTarget': () => ({
      windowId: 1,
      bounds: { left: 0, top: 0, width: 1280, height: 800, windowState: 'normal' },
    }),
    'Browser.close': () => {
      setTimeout(() => this.end({ code: 0, signal: null }), CLOSE_MS).unref();
      return {};
    },
  };
}
