import { expect, test } from '@playwright/test';
import fc from 'fast-check';
import { BrowserHealth } from '../../../../src/cdp/contexts/browser-health.ts';
import { HiddenTargets } from '../../../../src/cdp/contexts/hidden-targets.ts';
import type { CdpMessage } from '../../../../src/cdp/message.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

/** A browser that had another client before this one, and may have another one beside it. */

const TYPES = ['page', 'service_worker', 'shared_worker', 'worker', 'worklet', 'prerender', 'tab', 'other'] as const;
const DEFAULT = 'default';

interface Listed {
  targetId: string;
  type: string;
  browserContextId?: string | undefined;
}

/** Responds at once, like the browser process does. */
class FakeBrowser {
  readonly contexts = new Set<string>();
  readonly targets = new Map<string, Listed>();
  readonly toBrowser: CdpMessage[] = [];
  readonly toClient: CdpMessage[] = [];
  readonly health = new BrowserHealth();
  /** Targets that the browser does not close. */
  readonly stuck = new Set<string>();
  readonly list: InterceptorList;
  /** Methods that it refuses, or does not respond to. */
  readonly refused = new Map<string, string | null>();
  /** Whether clients are attached to the pages that they open. */
  attaches = true;
  #last = 0;

  constructor() {
    this.list = new InterceptorList([(transport) => new HiddenTargets(transport, this.health)], {
      toBrowser: (command) => this.#receive(command),
      toClient: (message) => this.toClient.push(message),
    });
  }

  async command(method: string, params: object = {}): Promise<void> {
    this.#last += 1;
    this.list.command({ id: this.#last, method, params });
    await turn();
  }

  /** The browser announces a target, as to a client that attaches to all. Returns its session. */
  start(info: Listed): string {
    this.targets.set(info.targetId, info);
    const sessionId = `session of ${info.targetId}`;
    this.list.message({ method: 'Target.targetCreated', params: { targetInfo: info } });
    const params = { sessionId, targetInfo: info, waitingForDebugger: true };
    this.list.message({ method: 'Target.attachedToTarget', params });
    return sessionId;
  }

  /** Target IDs in events of this kind that the client has received. */
  seen(event: string): string[] {
    return this.toClient.flatMap(({ method, params }) =>
      method === event ? [(params as { targetInfo: Listed }).targetInfo.targetId] : [],
    );
  }

  isLetGo(sessionId: string): boolean {
    const resumed = this.toBrowser.some(
      (command) => command.method === 'Runtime.runIfWaitingForDebugger' && command.sessionId === sessionId,
    );
    const detached = this.toBrowser.some(
      ({ method, params }) =>
        method === 'Target.detachFromTarget' && (params as { sessionId: string }).sessionId === sessionId,
    );
    return resumed && detached;
  }

  #receive(command: CdpMessage): void {
    this.toBrowser.push(command);
    const { id = 0, method = '', sessionId } = command;
    const refusal = this.refused.get(method);
    if (refusal === null) return;
    const response = refusal === undefined ? { result: this.#result(command) } : { error: { message: refusal } };
    setImmediate(() => this.list.message({ id, ...response, ...(sessionId !== undefined && { sessionId }) }));
  }

  #result({ method, params }: CdpMessage): object {
    const { browserContextId = '', targetId = '' } = (params ?? {}) as { browserContextId?: string; targetId?: string };
    if (method === 'Target.getBrowserContexts') {
      return { browserContextIds: [...this.contexts], defaultBrowserContextId: DEFAULT };
    }
    if (method === 'Target.getTargets') return { targetInfos: [...this.targets.values()] };
    if (method === 'Target.createBrowserContext') {
      const id = `context ${this.contexts.size} of ${this.#last}`;
      this.contexts.add(id);
      return { browserContextId: id };
    }
    if (method === 'Target.createTarget') {
      const info = { targetId: `page ${this.#last}`, type: 'page', browserContextId: browserContextId || DEFAULT };
      if (this.attaches) this.start(info);
      return { targetId: info.targetId };
    }
    if (method === 'Target.disposeBrowserContext') {
      this.contexts.delete(browserContextId);
      for (const target of this.targets.values()) {
        if (target.browserContextId === browserContextId) this.targets.delete(target.targetId);
      }
    }
    if (method === 'Target.closeTarget' && !this.stuck.has(targetId)) this.targets.delete(targetId);
    return {};
  }
}

async function turn(): Promise<void> {
  for (let n = 0; n < 4; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function connected(before: (browser: FakeBrowser) => void = () => undefined): Promise<FakeBrowser> {
  const browser = new FakeBrowser();
  before(browser);
  await browser.command('Target.setDiscoverTargets', { discover: true });
  await browser.command('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });
  return browser;
}

const WHERE = ['default', 'own', 'disposed', 'before', 'beside', 'none'] as const;
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('create' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('dispose' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('create beside' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('start' as const),
      type: fc.constantFrom(...TYPES),
      where: fc.constantFrom(...WHERE),
    }),
  },
);

/** One history of a browser and this client. */
class History {
  readonly browser: FakeBrowser;
  /** Targets that the client must see, and sessions on all others. */
  readonly shown: string[] = [];
  readonly hidden: string[] = [];
  #count = 0;
  readonly #contexts: Record<(typeof WHERE)[number], string[]> = {
    default: [DEFAULT],
    own: [],
    disposed: [],
    before: ['of the previous client'],
    beside: [],
    none: [],
  };

  constructor(browser: FakeBrowser) {
    this.browser = browser;
  }

  async create(): Promise<void> {
    const had = new Set(this.browser.contexts);
    await this.browser.command('Target.createBrowserContext', { disposeOnDetach: true });
    this.#contexts.own.push(...[...this.browser.contexts].filter((id) => !had.has(id)));
  }

  async dispose(): Promise<void> {
    const gone = this.#contexts.own.shift();
    if (gone === undefined) return;
    await this.browser.command('Target.disposeBrowserContext', { browserContextId: gone });
    this.#contexts.disposed.push(gone);
  }

  createBeside(): void {
    this.#count += 1;
    this.#contexts.beside.push(`beside ${this.#count}`);
    this.browser.contexts.add(`beside ${this.#count}`);
  }

  start(type: string, where: (typeof WHERE)[number]): void {
    const browserContextId = this.#contexts[where].at(-1);
    if (browserContextId === undefined && where !== 'none') return;
    this.#count += 1;
    const targetId = `target ${this.#count}`;
    const session = this.browser.start({ targetId, type, browserContextId });
    if (where === 'default' || where === 'own') this.shown.push(targetId);
    else this.hidden.push(session);
  }
}

test('shows only targets of contexts that the client has, in any history, and lets go of all others', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const browser = await connected(({ contexts }) => contexts.add('of the previous client'));
      const history = new History(browser);
      for (const what of steps) {
        if (what.do === 'create') await history.create();
        else if (what.do === 'dispose') await history.dispose();
        else if (what.do === 'create beside') history.createBeside();
        else history.start(what.type, what.where);
      }
      expect(browser.seen('Target.attachedToTarget')).toEqual(history.shown);
      expect(browser.seen('Target.targetCreated')).toEqual(history.shown);
      expect(history.hidden.filter((session) => !browser.isLetGo(session))).toEqual([]);
      browser.list.end();
    }),
    propertyRuns(500),
  );
});

test('lists only the contexts that the client has opened', async () => {
  const browser = await connected(({ contexts }) => contexts.add('of the previous client'));
  await browser.command('Target.createBrowserContext');
  await browser.command('Target.getBrowserContexts');
  const browserContextIds = [...browser.contexts].slice(1);
  expect(browser.toClient.at(-1)?.result).toMatchObject({ browserContextIds });
  browser.list.end();
});

test.describe('after the tests of a worker, a browser', () => {
  const info = (targetId: string, type: string, browserContextId?: string) => ({ targetId, type, browserContextId });

  test('that is as before costs one round trip', async () => {
    const browser = await connected(({ targets }) => targets.set('tab', info('tab', 'page', DEFAULT)));
    const before = browser.toBrowser.length;
    expect(await browser.health.clean()).toBe(null);
    expect(browser.toBrowser.slice(before).map(({ method }) => method)).toEqual([
      'Target.getBrowserContexts',
      'Target.getTargets',
    ]);
    browser.list.end();
  });

  test('loses its open contexts, contexts of others, and pages of its default context, but no tab of before', async () => {
    const browser = await connected(({ targets }) => targets.set('tab', info('tab', 'page', DEFAULT)));
    await browser.command('Target.createBrowserContext');
    browser.contexts.add('of a test');
    browser.start(info('in it', 'page', 'of a test'));
    browser.start(info('left', 'page', DEFAULT));
    browser.start(info('of an extension', 'service_worker', DEFAULT));
    browser.start(info('without a context', 'service_worker'));
    expect(await browser.health.clean()).toBe(null);
    expect([...browser.targets.keys()].sort()).toEqual(['of an extension', 'tab']);
    expect([...browser.contexts]).toEqual([]);
    browser.list.end();
  });

  test('that keeps a target is not used again, and the reason names the target', async () => {
    const browser = await connected();
    browser.start(info('stuck', 'service_worker'));
    browser.stuck.add('stuck');
    expect(await browser.health.clean()).toMatch(/^it has not closed .* within \d s: service_worker$/);
    browser.list.end();
  });

  test('that closes a page a second after it was told to is used again', async () => {
    const browser = await connected();
    browser.start(info('slow', 'page', DEFAULT));
    browser.stuck.add('slow');
    setTimeout(() => browser.targets.delete('slow'), 1_000);
    expect(await browser.health.clean()).toBe(null);
    expect([...browser.targets.keys()]).toEqual([]);
    browser.list.end();
  });

  for (const [method, what] of [
    ['Target.createBrowserContext', 'a context'],
    ['Target.createTarget', 'a page'],
  ] as const) {
    test(`that refuses ${what} is broken`, async () => {
      const browser = await connected();
      browser.refused.set(method, 'No \u001b[31mroom\n');
      await browser.command(method);
      expect(browser.health.fault()).toBe(`it refused to open ${what}: "No room "`);
      expect(await browser.health.clean()).toBe(browser.health.fault());
      browser.list.end();
    });

    test(`that never opens ${what} is broken`, async () => {
      const browser = await connected();
      browser.refused.set(method, null);
      await browser.command(method);
      expect(browser.health.fault()).toBe(null);
      expect(await browser.health.clean(1_000)).toMatch(new RegExp(`^it has not opened ${what} within \\d s$`));
      browser.list.end();
    });
  }

  test('that opens a page, but never attaches the client to it, is broken', async () => {
    const browser = await connected();
    await browser.command('Target.createTarget');
    expect(await browser.health.clean()).toBe(null);
    browser.attaches = false;
    await browser.command('Target.createTarget');
    expect(browser.health.fault()).toBe(null);
    expect(await browser.health.clean(1_000)).toMatch(/^it has not opened a page within \d s$/);
    browser.list.end();
  });

  test('is broken when the client closes the context of such a page later, and not when it does at once', async () => {
    const browser = await connected();
    browser.attaches = false;
    const open = async () => {
      await browser.command('Target.createBrowserContext');
      const browserContextId = [...browser.contexts].at(-1);
      await browser.command('Target.createTarget', { browserContextId });
      return async () => await browser.command('Target.disposeBrowserContext', { browserContextId });
    };
    const close = await open();
    await close();
    expect(await browser.health.clean()).toBe(null);
    const closeLate = await open();
    await expect.poll(() => browser.health.fault(3_000), { intervals: [100] }).not.toBe(null);
    await closeLate();
    expect(browser.health.fault()).toMatch(/^it has not opened a page within \d s$/);
    browser.list.end();
  });

  test('is not broken when a test opens a page in a context that it closes', async () => {
    const browser = await connected();
    browser.refused.set('Target.createTarget', 'Failed to find browser context with id 7');
    await browser.command('Target.createTarget', { browserContextId: '7' });
    expect(await browser.health.clean()).toBe(null);
    browser.list.end();
  });
});
