import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import { errorMessage } from '../../common/error-message.ts';
import type { Interceptor, InterceptorLink } from '../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';
import { HiddenTargets, type TargetInfo } from './hidden-targets.ts';
import { ShownTargets } from './shown-targets.ts';

/** How a persistent context is left behind. */
export interface PersistentOptions {
  /** Its cookies and storage are cleared, too, when Playwright closes it. */
  clear: boolean;
}

const contextList = v.looseObject({
  browserContextIds: v.array(v.string()),
  // Chromium says so since 2025.
  defaultBrowserContextId: v.optional(v.string()),
});
const targetList = v.looseObject({
  targetInfos: v.array(
    v.looseObject({ targetId: v.string(), type: v.string(), browserContextId: v.optional(v.string()) }),
  ),
});
const createdTarget = v.looseObject({ targetId: v.string() });
const attached = v.looseObject({ sessionId: v.string() });

/** What an extension runs in. The browser attaches Playwright to those that start while it watches. */
const BACKGROUND_TYPES = new Set(['service_worker', 'background_page']);
const NO_PROXY = "a persistent context is the browser's own and cannot have a proxy of its own";
/** As Chromium numbers what it refuses. */
const REFUSED = -32_000;
/** How often pages are closed that others opened while they were being closed. */
const SWEEPS = 5;

/**
 * Gives Playwright the browser's own context, which holds its profile and extensions, when it asks for a new one. To
 * Playwright it is a context like any other: whatever `newContext` takes it applies itself, page by page, and traces,
 * videos and time-outs are as ever. When it closes the context, what was opened in it is closed and permissions are
 * reset; cookies and storage stay, unless they are to be cleared.
 *
 * While it is open, a further context is a real new one. While it is not, Playwright sees nothing of it: the targets that
 * are hidden from Playwright anyway are this one's affair too.
 */
export class PersistentContext implements Interceptor {
  readonly #link: InterceptorLink;
  readonly #options: PersistentOptions;
  /** What Playwright shall not see: all of the browser's own context while it does not have it. */
  readonly #hidden: HiddenTargets;
  /** What Playwright is attached to in it. */
  readonly #shown: ShownTargets;
  #id: string | undefined;
  /** Pages that were there before Playwright first had the context: they stay. */
  #kept: Set<string> | undefined;
  #state: 'closed' | 'changing' | 'open' = 'closed';
  /**
   * Until Playwright's first command about the context is answered, it has not got it in place and would put workers
   * into another one. So it is attached to none before that, and then to those that run.
   */
  #settled = false;
  #firstCommand: number | undefined;

  constructor(link: InterceptorLink, options: PersistentOptions) {
    this.#link = link;
    this.#options = options;
    this.#hidden = new HiddenTargets(link, (target) => !this.#settled && this.#isOwn(target));
    this.#shown = new ShownTargets((target) => this.#isOwn(target));
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    this.#hidden.onCommand(command);
    if (command.sessionId !== undefined) return command;
    const { id, method, params } = command;
    if (method === 'Target.createBrowserContext' && this.#state === 'closed') {
      const { proxyServer } = fieldsOf<Protocol.Target.CreateBrowserContextRequest>(params);
      if (proxyServer === undefined) void this.#answer(id, this.#open());
      else this.#link.deliver({ id, error: { code: REFUSED, message: NO_PROXY } });
      return null;
    }
    if (!this.#isAboutOwn(params)) return command;
    if (method === 'Target.disposeBrowserContext') {
      void this.#answer(id, this.#close());
      return null;
    }
    return this.#withoutContextId(command);
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    if (this.#hidden.onMessage(message) === null) return null;
    const { id, sessionId, method } = message;
    if (sessionId !== undefined) return message;
    if (!this.#settled && id !== undefined && id === this.#firstCommand) setImmediate(() => this.#show());
    if (method?.startsWith('Target.')) this.#shown.observe(message);
    return message;
  }

  /** Older browsers know their own context by no ID. */
  #withoutContextId(command: CdpMessage): CdpMessage {
    if (this.#state === 'open') this.#firstCommand ??= command.id;
    const params = { ...fieldsOf(command.params), browserContextId: undefined };
    // In a window of its own, as in a new context: a tab behind another one draws nothing.
    if (command.method === 'Target.createTarget') return { ...command, params: { ...params, newWindow: true } };
    return { ...command, params };
  }

  /**
   * Before its ID is known, every context that is not one of Playwright's is taken for it: there are none yet. The browser
   * itself, which may be talked to as well, is in none.
   */
  #isOwn({ type, browserContextId }: TargetInfo): boolean {
    return type !== 'browser' && (this.#id === undefined || browserContextId === this.#id);
  }

  #isAboutOwn(params: unknown): boolean {
    if (this.#id === undefined) return false;
    return fieldsOf<Protocol.Target.DisposeBrowserContextRequest>(params).browserContextId === this.#id;
  }

  async #answer(id: number | undefined, work: Promise<object>): Promise<void> {
    const answer = await work.then(
      (result) => ({ id, result }),
      (error) => ({ id, error: { code: REFUSED, message: `The browser's own context: ${errorMessage(error)}` } }),
    );
    this.#link.deliver(answer);
  }

  async #open(): Promise<object> {
    this.#state = 'changing';
    try {
      const targets = await this.#targets();
      this.#id ??= await this.#findId(targets);
      this.#kept ??= new Set(targets.filter((target) => this.#isOwn(target)).map(({ targetId }) => targetId));
      this.#state = 'open';
      return { browserContextId: this.#id };
    } catch (error) {
      this.#state = 'closed';
      throw error;
    }
  }

  async #close(): Promise<object> {
    this.#state = 'changing';
    this.#settled = false;
    this.#firstCommand = undefined;
    try {
      for (let sweep = 0; sweep < SWEEPS; sweep++) {
        const pages = (await this.#targets()).filter((target) => this.#isOpened(target));
        if (pages.length === 0) break;
        await Promise.all(pages.map(({ targetId }) => this.#closePage(targetId)));
      }
      for (const sessionId of this.#shown.backgroundSessions()) {
        this.#link.post('Target.detachFromTarget', { sessionId });
      }
      await this.#link.call('Browser.resetPermissions');
      if (this.#options.clear) await this.#clear();
      return {};
    } finally {
      this.#state = 'closed';
    }
  }

  /** Attaches Playwright to the extensions' workers and pages that run already. */
  async #show(): Promise<void> {
    this.#settled = true;
    // Where that fails, the link is down.
    const targets = await this.#targets().catch(() => []);
    for (const target of targets) {
      const { targetId, type } = target;
      if (!this.#isOwn(target) || !BACKGROUND_TYPES.has(type) || this.#shown.has(targetId)) continue;
      this.#link.post('Target.attachToTarget', { targetId, flatten: true });
    }
  }

  #isOpened(target: TargetInfo): boolean {
    return target.type === 'page' && this.#isOwn(target) && !this.#kept?.has(String(target.targetId));
  }

  /** Closes a page, and waits until Playwright has seen that it is closed. */
  async #closePage(targetId: string): Promise<void> {
    const detached = this.#shown.detached(targetId);
    // One that has just closed by itself is refused.
    await this.#link.call('Target.closeTarget', { targetId }).catch(() => undefined);
    await detached;
  }

  /** Only a page can ask for the storage of its context to be cleared: one that nobody sees. */
  async #clear(): Promise<void> {
    const { targetId } = v.parse(
      createdTarget,
      await this.#link.call('Target.createTarget', { url: 'about:blank', background: true }),
    );
    this.#hidden.claim(targetId);
    const { sessionId } = v.parse(
      attached,
      await this.#link.call('Target.attachToTarget', { targetId, flatten: true }),
    );
    await this.#link.call('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' }, sessionId);
    await this.#link.call('Storage.clearCookies');
    await this.#link.call('Target.closeTarget', { targetId });
  }

  async #targets() {
    return v.parse(targetList, await this.#link.call('Target.getTargets')).targetInfos;
  }

  async #findId(targets: readonly TargetInfo[]): Promise<string> {
    const { browserContextIds, defaultBrowserContextId } = v.parse(
      contextList,
      await this.#link.call('Target.getBrowserContexts'),
    );
    const others = new Set<unknown>(browserContextIds);
    const own = targets.find(({ browserContextId }) => browserContextId !== undefined && !others.has(browserContextId));
    const id = defaultBrowserContextId ?? own?.browserContextId;
    if (typeof id !== 'string') throw new Error('the browser does not tell its ID, and has no page in it');
    return id;
  }
}
