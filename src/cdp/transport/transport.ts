import type { WebSocket } from 'undici';
import { redactText } from '../../redact.ts';
import type { NetworkBridge } from '../bridge/bridge.ts';
import type { BridgedHosts } from '../bridge/bridged-hosts.ts';
import { keepOutOfCache, restoredEvents } from '../contexts/back-forward-cache.ts';
import { HiddenTargets } from '../contexts/hidden-targets.ts';
import { PersistentContext, type PersistentOptions } from '../contexts/persistent-context.ts';
import { Downloads } from '../files/downloads.ts';
import { Uploads } from '../files/uploads.ts';
import type { Meter } from '../metering/meter.ts';
import { describeClosed, type LinkClosed } from './link-closed.ts';
import type { CdpMessage } from './message.ts';
import { type LinkTraffic, type OpenSocket, openSocket } from './open-socket.ts';
import { OwnCommands } from './own-commands.ts';

/** What `chromium.connectOverCDP()` takes instead of an address (Playwright ≥ 1.61), and how its link ended. */
export interface CdpTransport {
  send(message: object): void;
  /** Closes the link; the browser itself goes on. */
  close(): void;
  onmessage?: ((message: object) => void) | undefined;
  /** Called once, after the last message, with the reason in words. */
  onclose?: ((reason?: string) => void) | undefined;
  /** How many commands Playwright has sent, its signs of life (`Browser.getVersion`) left out. */
  readonly commands: number;
  /** Bytes that crossed the network bridge, both ways; 0 without one. */
  readonly bridgedBytes: number;
  /** What has passed over the link so far. */
  traffic(): LinkTraffic;
  /** Resolves as soon as the link is down, whoever closed it. Never rejects. */
  readonly closed: Promise<LinkClosed>;
}

/** Options of {@link openTransport}. */
export interface TransportOptions {
  /** Bound on opening the link, in ms; 30 000 unless given. */
  timeout?: number;
  /** Gives up opening. Of no effect once the link is open. */
  signal?: AbortSignal;
  /** For errors: whose browser it is. */
  sessionId?: string;
  /** The first context that Playwright asks for is the browser's own; without this, each is a new one. */
  persistent?: PersistentOptions;
  /** Sees every message that Playwright sees. */
  meter?: Meter;
  /** Hosts that the browser's pages reach through this machine; none unless given. */
  bridge?: BridgedHosts | undefined;
}

const OPEN_TIMEOUT_MS = 30_000;
/** How long the other side may take to answer our goodbye, in ms: a dead one never does. */
const GOODBYE_MS = 3_000;

/**
 * Opens a link to a browser's `cdpUrl`, for Playwright to talk through.
 * @throws LeaseError `CONNECT_FAILED`, which holds no more of the `cdpUrl` than its host
 * @throws PoolwrightError `ABORTED` when the signal fires, or the signal's own reason when that is a PoolwrightError
 */
export async function openTransport(cdpUrl: string, options: TransportOptions = {}): Promise<CdpTransport> {
  const { timeout = OPEN_TIMEOUT_MS, signal, sessionId } = options;
  const open = await openSocket(cdpUrl, { timeout, signal, sessionId });
  // Loaded where there is a bridge, and nowhere else.
  const bridgeClass = options.bridge && (await import('../bridge/bridge.ts')).NetworkBridge;
  return new SocketTransport(open, cdpUrl, options, bridgeClass);
}

/** Its fields are private to the language: whoever prints or serializes it sees neither address nor traffic. */
class SocketTransport implements CdpTransport {
  readonly closed: Promise<LinkClosed>;
  readonly traffic: () => LinkTraffic;
  onmessage: CdpTransport['onmessage'];

  readonly #socket: WebSocket;
  readonly #cut: () => void;
  readonly #meter: Meter | undefined;
  readonly #own: OwnCommands;
  readonly #uploads: Uploads;
  readonly #downloads: Downloads;
  readonly #hidden: HiddenTargets;
  readonly #persistent: PersistentContext | undefined;
  readonly #bridge: NetworkBridge | undefined;
  #onclose: CdpTransport['onclose'];
  /** Set once the link is down, until Playwright has been told. */
  #end: LinkClosed | undefined;
  #closing = false;
  #commands = 0;
  /** Why this side closed, where it was not asked to. */
  #fault = '';

  constructor(
    { socket, cut, traffic }: OpenSocket,
    secret: string,
    { bridge: hosts, meter, persistent }: TransportOptions,
    bridgeClass: typeof NetworkBridge | undefined,
  ) {
    this.#socket = socket;
    this.#cut = cut;
    this.traffic = traffic;
    this.#meter = meter;
    this.#own = new OwnCommands((message) => this.#put(message));
    const pass = (message: CdpMessage) => this.onmessage?.(message);
    this.#uploads = new Uploads(this.#own, pass);
    this.#downloads = new Downloads(this.#own, pass);
    if (persistent) this.#persistent = new PersistentContext(this.#own, pass, persistent);
    this.#hidden = this.#persistent?.hidden ?? new HiddenTargets(this.#own);
    if (hosts && bridgeClass) this.#bridge = new bridgeClass(hosts, this.#own, pass);
    // Each message in a task of its own, as Playwright's own transport does: what Playwright does about a message it
    // does in microtasks, and those must all have run before it sees the next (several come in one packet).
    socket.addEventListener('message', ({ data }) => setImmediate(this.#deliver, data));
    this.closed = new Promise((resolve) => {
      socket.addEventListener('close', ({ code, reason }) => {
        const byUs = this.#closing && this.#fault === '';
        this.#closing = true;
        this.#end = { code, reason: this.#fault || redactText(reason, [secret]), byUs };
        resolve(this.#end);
        this.#own.end();
        this.#downloads.end();
        this.#bridge?.end();
        // In line behind the messages that are still on their way to Playwright.
        setImmediate(this.#tellEnd);
      });
    });
  }

  get commands(): number {
    return this.#commands;
  }

  get bridgedBytes(): number {
    return this.#bridge?.carriedBytes ?? 0;
  }

  get onclose(): CdpTransport['onclose'] {
    return this.#onclose;
  }

  set onclose(listener: CdpTransport['onclose']) {
    this.#onclose = listener;
    // The link may have gone down before Playwright listened: it would wait.
    if (listener && this.#end) setImmediate(this.#tellEnd);
  }

  send(message: CdpMessage): void {
    if (message.method !== 'Browser.getVersion') this.#commands += 1;
    this.#hidden.sent(message);
    if (this.#persistent?.takes(message) || this.#uploads.takes(message)) return;
    const command = this.#bridge ? this.#bridge.redirect(message) : message;
    if (command) this.#put(this.#toBrowser(command));
  }

  close(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#socket.close();
    const timer = setTimeout(this.#cut, GOODBYE_MS);
    void this.closed.then(() => clearTimeout(timer));
  }

  #toBrowser(command: CdpMessage): CdpMessage {
    const redirected = this.#downloads.redirect(keepOutOfCache(command));
    return this.#persistent ? this.#persistent.redirect(redirected) : redirected;
  }

  #put(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  readonly #deliver = (data: unknown): void => {
    let message: CdpMessage;
    try {
      message = JSON.parse(String(data));
    } catch {
      // No word of what it was: it may hold anything.
      this.#fail('a message was not JSON');
      return;
    }
    if (this.#own.takes(message) || this.#hidden.hides(message)) return;
    this.#persistent?.observe(message);
    if (!this.#bridge?.carriesDownload(message)) this.#meter?.observe(message);
    if (this.#downloads.holds(message) || this.#bridge?.takes(message)) return;
    this.onmessage?.(message);
    for (const event of restoredEvents(message)) this.onmessage?.(event);
  };

  #fail(fault: string): void {
    if (this.#closing) return;
    this.#fault = fault;
    this.close();
  }

  readonly #tellEnd = (): void => {
    const listener = this.#onclose;
    if (!this.#end || !listener) return;
    const end = this.#end;
    this.#end = undefined;
    listener(describeClosed(end));
  };
}
