import type { WebSocket } from 'ws';
import { Windows } from '../../cdp/contexts/windows.ts';
import { type MeasuredTransport, openLeased } from '../../cdp/pipeline.ts';
import type { CdpTransport } from '../../cdp/transport/transport.ts';
import { connected } from '../../common/dial/dial.ts';
import { errorMessage } from '../../common/error-message.ts';
import { PoolwrightError } from '../../errors.ts';
import { type Exposure, parseExposure } from '../../options/expose-network.ts';
import { redactText } from '../../redact.ts';
import { allowedLookup, HostRefused } from '../allowed-hosts.ts';
import { type FromRelay, frame, fromWorker, type Open, readFrame } from '../protocol.ts';
import { browserHash } from '../relay-token.ts';
import { isStreamFrame, Streams } from '../streams.ts';
import { pipeBrowser } from './browser-pipe.ts';
import { denialOf } from './denied-calls.ts';
import type { LeaseConfig } from './lease-config.ts';
import { openRequestProxy, type RequestProxy } from './request-proxy.ts';
import { type LoadedPlaywright, serveBrowser } from './served-browser.ts';

/** Time limit for a connection to the browser, in ms. */
const CONNECT_TIMEOUT_MS = 20_000;
/** Time limit for the worker's close frame, in ms: a relay that hangs passes none on. */
const GOODBYE_MS = 3_000;
/** A response of Playwright's protocol begins like this; anything else is an event. */
const RESPONSE = '{"id"';

/** One worker's browser: the worker's socket on one side, the connection to the browser on the other. */
export class Lease {
  readonly #config: LeaseConfig;
  readonly #worker: WebSocket;
  readonly #userAgent: string;
  readonly #streams: Streams;
  /** Messages for Playwright that came before its server was ready. */
  #early: string[] = [];
  #playwright: WebSocket | null = null;
  #browser: MeasuredTransport | null = null;
  #proxy: RequestProxy | null = null;
  #lastFigures = '';
  #isOpening = false;

  constructor(config: LeaseConfig, worker: WebSocket, userAgent: string) {
    this.#config = config;
    this.#worker = worker;
    this.#userAgent = userAgent;
    this.#streams = new Streams((data, sent) => worker.send(data, sent));
  }

  /** Serves the worker until either side closes. @param loading the worker's Playwright */
  async run(loading: Promise<LoadedPlaywright>): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#worker.once('close', () => resolve());
    });
    this.#worker.on('message', (data: Buffer, isBinary) => {
      if (isBinary && isStreamFrame(data)) this.#streams.receive(data);
      else if (isBinary) void this.#control(data, loading);
      else this.#pass(data.toString());
    });
    await closed;
    this.#playwright?.terminate();
    this.#streams.end();
    this.#proxy?.close();
    this.#browser?.transport.close();
    await this.#browser?.transport.closed;
  }

  async #control(data: Buffer, loading: Promise<LoadedPlaywright>): Promise<void> {
    const message = readFrame(fromWorker, data);
    if (message?.type === 'ask' || message?.type === 'clean') {
      const error = await (message.type === 'ask' ? this.#ask() : this.#clean());
      this.#send({ type: 'answered', id: message.id, error });
    } else if (message?.type === 'open' && !this.#isOpening) {
      this.#isOpening = true;
      try {
        await this.#open(message, loading);
      } catch (error) {
        this.#send({ type: 'failed', reason: reasonOf(error, message.cdpUrl) });
        this.#worker.close();
      }
    } else {
      this.#worker.close();
    }
  }

  async #open(message: Open, loading: Promise<LoadedPlaywright>): Promise<void> {
    const { cdpUrl } = message;
    if (browserHash(cdpUrl) !== this.#config.browser) throw new HostRefused('the token is for another browser');
    const lookup = await allowedLookup(cdpUrl, this.#config.allowed);
    const { hosts, auto } = withoutFiles(message.exposeNetwork);
    const events = { onVisit: () => undefined, onDenied: (url: string) => this.#send({ type: 'denied', url }) };
    this.#browser = await openLeased(message, {
      lookup,
      timeout: CONNECT_TIMEOUT_MS,
      proxiedHosts: hosts ?? undefined,
      auto: auto ? events : undefined,
      dial: async (host, port) => await connected(this.#streams.dial({ host, port, by: 'page' })),
      onIncompleteUpload: (text) => this.#send({ type: 'notCarried', text }),
    });
    const { transport } = this.#browser;
    void transport.closed.then(({ code, reason }) => {
      this.#sendFigures();
      this.#send({ type: 'closed', code, reason: redactText(reason, [cdpUrl]) });
      this.#worker.close();
      setTimeout(() => this.#worker.terminate(), GOODBYE_MS);
    });
    const haveWindows = windowsOf(transport);
    const executable = await pipeBrowser(transport, this.#config.directory);
    this.#proxy = await openRequestProxy((host, port) => this.#streams.dial({ host, port, by: 'test' }));
    const served = { executable, proxy: this.#proxy.server };
    const playwright = await serveBrowser(await loading, served, this.#userAgent);
    playwright.on('message', (data: Buffer) => this.#deliver(data));
    playwright.on('close', () => this.#worker.close());
    playwright.on('error', () => undefined);
    this.#send({ type: 'opened', haveWindows: await haveWindows });
    this.#playwright = playwright;
    for (const text of this.#early) playwright.send(text);
    this.#early = [];
  }

  #pass(text: string): void {
    const denial = denialOf(text);
    if (denial !== null) this.#worker.send(denial);
    else if (this.#playwright) this.#playwright.send(text);
    else this.#early.push(text);
  }

  /** Figures precede each response, so that they are complete when a test ends. */
  #deliver(data: Buffer): void {
    if (data.subarray(0, RESPONSE.length).toString() === RESPONSE) this.#sendFigures();
    this.#worker.send(data, { binary: false });
  }

  #sendFigures(): void {
    if (!this.#browser) return;
    const figures = { ...this.#browser.figures(), fault: this.#browser.health.fault() };
    const text = JSON.stringify(figures);
    if (text === this.#lastFigures) return;
    this.#lastFigures = text;
    this.#send({ type: 'figures', ...figures });
  }

  async #ask(): Promise<string | null> {
    return await reasonWhy(this.#browser?.transport.ask().then(() => null));
  }

  async #clean(): Promise<string | null> {
    return await reasonWhy(this.#browser?.health.clean());
  }

  #send(message: FromRelay): void {
    if (this.#worker.readyState === this.#worker.OPEN) this.#worker.send(frame(message));
  }
}

/** The outcome of a check of the browser, whose failure is one, too. */
async function reasonWhy(check: Promise<string | null> = Promise.resolve(null)): Promise<string | null> {
  return await check.catch((error) => redactText(errorMessage(error)));
}

/** Whether the browser's pages have separate windows. */
async function windowsOf(transport: CdpTransport): Promise<boolean> {
  const windows = new Windows();
  windows.onResponse({ result: await transport.ask().catch(() => undefined) });
  return windows.exist;
}

/** Files are those of the worker's machine, which this one does not have. */
function withoutFiles(exposeNetwork: string): Exposure {
  const rules = exposeNetwork.split(',').filter((rule) => rule.trim() !== '<files>');
  return parseExposure(rules.join(','));
}

/** Only messages of ours are certain to contain no secret. */
function reasonOf(error: unknown, cdpUrl: string): string {
  if (error instanceof HostRefused || error instanceof PoolwrightError) return redactText(error.message, [cdpUrl]);
  return `the relay failed: ${redactText(errorMessage(error).split('\n')[0] ?? '', [cdpUrl])}`;
}
