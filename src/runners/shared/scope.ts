import type { BrowserContext, Page } from 'puppeteer-core';
import type { PuppeteerConnection } from '../../clients/puppeteer/connection.ts';
import { openTestContext, type TestContext } from '../../clients/puppeteer/contexts.ts';
import type { WorkerBrowser } from '../../clients/shared/worker-browser.ts';

export interface OpenContext {
  connection: PuppeteerConnection;
  context: BrowserContext;
  /** The first page, opened on first use. */
  page(): Promise<Page>;
}

/** One context, of a test or of a test file. Opened on first use. */
export class Scope {
  readonly #worker: WorkerBrowser<PuppeteerConnection>;
  readonly #timeout: number;
  #opening: Promise<OpenContext & { opened: TestContext }> | null = null;
  #context: BrowserContext | null = null;
  #connection: PuppeteerConnection | null = null;
  /** When the last test that used this context ended, in ms since the epoch; 0: none did. */
  lastTestEnd = 0;

  /** @param timeout how long its browser must last, in ms; 0: unknown */
  constructor(worker: WorkerBrowser<PuppeteerConnection>, timeout: number) {
    this.#worker = worker;
    this.#timeout = timeout;
  }

  get context(): BrowserContext | null {
    return this.#context;
  }

  /** The connection of the context that is open or was open last. */
  get connection(): PuppeteerConnection | null {
    return this.#connection;
  }

  /** Leases a browser if there is none. Concurrent calls share the result. @throws LeaseError, ServiceError */
  open(): Promise<OpenContext> {
    this.#opening ??= this.#start();
    const opening = this.#opening;
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = null;
    });
    return opening;
  }

  /** Never rejects. Afterwards, {@link open} would open a new context. */
  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = null;
    const open = await opening?.catch(() => null);
    this.#context = null;
    await open?.opened.close().catch(() => undefined);
  }

  async #start() {
    const connection = await this.#worker.connected(this.#timeout);
    const opened = await openTestContext(connection);
    this.#context = opened.context;
    this.#connection = connection;
    let page: Promise<Page> | null = null;
    return {
      connection,
      opened,
      context: opened.context,
      page: () => {
        page ??= opened.context.newPage();
        return page;
      },
    };
  }
}
