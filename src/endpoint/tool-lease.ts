import { join } from 'node:path';
import { brokerClient } from '../broker/rpc/client.ts';
import type { HostedProject } from '../broker/rpc/messages/protocol.ts';
import type { BrokerAddress } from '../broker/rpc/shared-broker.ts';
import { type Connection, connectThrough } from '../clients/shared/connection/connect-through.ts';
import { TestUse } from '../clients/shared/test-use.ts';
import { WorkerBrowser } from '../clients/shared/worker-browser.ts';
import { dateNow } from '../common/clock.ts';
import { deferred } from '../common/deferred.ts';
import { PoolwrightError } from '../errors.ts';
import type { ConnectionSettings } from '../options/schema/plan.ts';
import { printable } from '../printable.ts';
import type { TestFacts } from '../record/test-record.ts';
import { BrowserClients } from './browser-clients.ts';
import { startPage } from './targets.ts';

/** The broker that leases browsers to tools, and how they are connected to. */
export interface ToolBrowsers {
  address: BrokerAddress;
  connection: ConnectionSettings;
  /** ID of the project at the broker. */
  project: { id: string; name: string };
  /** The directory of the run, and the command's name for the record. */
  root: string;
  command: string;
  /** A project that the broker does not know. */
  ownProject?: HostedProject;
  /** The test that uses the browser, for the record; null: the tool does. */
  test?(): TestFacts | null;
  /** Called with the reason when a tool gets no browser. */
  onFailure?(error: unknown): void;
}

/** Who leases a browser. */
export interface ToolFacts {
  userAgent: string;
  /** Number of this lease, and the lowest number that no other current lease has. */
  number: number;
  slot: number;
  /** Whether the tool must not see the page that a new browser shows. */
  hidesPages: boolean;
  /** What the browser's page shows at first; null: whatever it has. */
  open: string | null;
}

const IS_PLAYWRIGHT = /^Playwright\//;

/** A browser that one tool has leased. */
export class ToolLease {
  /** Resolves when the browser is connected. Rejects with a PoolwrightError. */
  readonly clients: Promise<BrowserClients>;
  readonly #hosted: WorkerBrowser<Connection<BrowserClients>>;
  readonly #browsers: ToolBrowsers;
  readonly #tool: ToolFacts;
  readonly #use = new TestUse();
  #ending: Promise<void> | null = null;
  readonly #turn = deferred();
  readonly #over = deferred();
  /** Resolves when the browser is given back. */
  readonly ended = this.#over.promise;

  constructor(browsers: ToolBrowsers, tool: ToolFacts) {
    this.#browsers = browsers;
    this.#tool = tool;
    const { address, connection, project, ownProject, onFailure = () => undefined } = browsers;
    const isPlaywright = IS_PLAYWRIGHT.test(tool.userAgent);
    this.#hosted = new WorkerBrowser<Connection<BrowserClients>>({
      broker: brokerClient(address, ownProject),
      features: {},
      connect: (lease, events) => {
        const library = {
          // Without Playwright's interceptors, a connection is as plain as Puppeteer's.
          name: isPlaywright ? ('playwright' as const) : ('puppeteer' as const),
          showsPages: !isPlaywright && !tool.hidesPages,
          connect: async (transport: ConstructorParameters<typeof BrowserClients>[0]) =>
            new BrowserClients(transport, () => void this.end()),
          isConnected: (browser: BrowserClients) => browser.isOpen,
          disconnect: async (browser: BrowserClients) => browser.close(),
        };
        return connectThrough<BrowserClients>(library, lease, {
          ...connection,
          identity: connection.identity,
          // Knows the commands of Playwright only.
          ahead: connection.ahead && isPlaywright,
          ...events,
        });
      },
      reuse: 'test',
      project,
      parallelIndex: tool.slot,
      testTimeout: 0,
    });
    this.clients = this.#turn.promise.then(() => this.#start());
    this.clients.catch(onFailure);
  }

  /** Requests the browser. */
  begin(): void {
    this.#turn.resolve();
  }

  /** Records the use of the browser, and gives it back. Never rejects. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #start(): Promise<BrowserClients> {
    const connection = await this.#hosted.start();
    this.#use.uses(connection);
    void connection.closed.then(() => this.end());
    // Before any tool attaches to that page: the first session on it is the one whose requests are proxied.
    if (this.#tool.open !== null) await startPage(connection.browser, this.#tool.open);
    return connection.browser;
  }

  async #end(): Promise<void> {
    this.#turn.reject(new PoolwrightError('ABORTED', 'The tool disconnected before its browser was ready.'));
    const { sink } = this.#hosted;
    const { root, command, project, test } = this.#browsers;
    const { number, slot, userAgent } = this.#tool;
    const facts = test?.() ?? {
      id: String(number),
      titles: [printable(userAgent || 'unknown tool').slice(0, 200)],
      file: join(root, command),
      rootDir: root,
      line: 0,
      project: project.name,
      parallelIndex: slot,
      retry: 0,
      status: 'passed' as const,
      ok: true,
      startedAt: this.#use.startedAt,
      endedAt: new Date(dateNow()),
    };
    await this.#use.end({ facts, failed: false, workerIndex: slot, shard: null }, sink).catch(() => undefined);
    await this.#hosted.close().catch(() => undefined);
    this.#over.resolve();
  }
}
