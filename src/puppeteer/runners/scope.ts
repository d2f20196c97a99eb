import type { BrowserContext, Page } from 'puppeteer-core';
import type { WorkerBrowser } from '../../worker/worker-browser.ts';
import type { PuppeteerConnection } from '../connection.ts';
import { openTestContext, type TestContext } from '../contexts.ts';

/** What is open. */
export interface Open {
  link: PuppeteerConnection;
  context: BrowserContext;
  /** The first page, opened when it is first asked for. */
  page(): Promise<Page>;
}

/** One context, of a test or of a file of tests: opened when it is first asked for. */
export class Scope {
  readonly #worker: WorkerBrowser<PuppeteerConnection>;
  readonly #timeout: number;
  #opening: Promise<Open & { opened: TestContext }> | null = null;

  /** @param timeout how long its browser must last, in ms; 0: not known */
  constructor(worker: WorkerBrowser<PuppeteerConnection>, timeout: number) {
    this.#worker = worker;
    this.#timeout = timeout;
  }

  /** Leases a browser where there is none. All who ask at once get the same. @throws LeaseError, ServiceError */
  open(): Promise<Open> {
    this.#opening ??= this.#start();
    const opening = this.#opening;
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = null;
    });
    return opening;
  }

  /** Never rejects. Asked again, it would open anew. */
  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = null;
    const open = await opening?.catch(() => null);
    await open?.opened.close().catch(() => undefined);
  }

  async #start() {
    const link = await this.#worker.connected(this.#timeout);
    const opened = await openTestContext(link);
    let page: Promise<Page> | null = null;
    return {
      link,
      opened,
      context: opened.context,
      page: () => {
        page ??= opened.context.newPage();
        return page;
      },
    };
  }
}
