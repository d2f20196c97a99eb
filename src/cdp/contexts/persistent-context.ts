import { z } from 'zod';
import { errorMessage } from '../../common/error-message.ts';
import type { CdpMessage } from '../transport/message.ts';
import type { OwnCommands } from '../transport/own-commands.ts';
import { HiddenTargets, type TargetInfo } from './hidden-targets.ts';

/** How a persistent context is left behind. */
export interface PersistentOptions {
  /** Its cookies and storage are cleared, too, when Playwright closes it. */
  clear: boolean;
}

const contextList = z.looseObject({
  browserContextIds: z.array(z.string()),
  // Chromium says so since 2025.
  defaultBrowserContextId: z.string().optional(),
});
const targetList = z.looseObject({
  targetInfos: z.array(
    z.looseObject({ targetId: z.string(), type: z.string(), browserContextId: z.string().optional() }),
  ),
});
const createdTarget = z.looseObject({ targetId: z.string() });
const attached = z.looseObject({ sessionId: z.string() });

/** What an extension runs in. The browser attaches Playwright to those that start while it watches. */
const BACKGROUND_TYPES = new Set(['service_worker', 'background_page']);
/** How often pages are closed that others opened while they were being closed. */
const SWEEPS = 5;
/** Bound on the closing of a page, in ms. */
const CLOSE_MS = 5_000;

interface ContextFields {
  proxyServer?: unknown;
  browserContextId?: unknown;
}

interface AttachedFields {
  sessionId?: unknown;
  targetInfo?: TargetInfo;
}

/**
 * Gives Playwright the browser's own context, which holds its profile and extensions, when it asks for a new one. To
 * Playwright it is a context like any other: whatever `newContext` takes it applies itself, page by page, and traces,
 * videos and time-outs are as ever. When it closes the context, what was opened in it is closed and permissions are
 * reset; cookies and storage stay, unless they are to be cleared.
 *
 * While it is open, a further context is a real new one. While it is not, Playwright sees nothing of it.
 */
export class PersistentContext {
  /** What Playwright shall not see: all of the browser's own context while it does not have it. */
  readonly hidden: HiddenTargets;
  readonly #commands: OwnCommands;
  readonly #pass: (message: CdpMessage) => void;
  readonly #options: PersistentOptions;
  #id: string | undefined;
  /** Pages that were there before Playwright first had the context: they stay. */
  #kept: Set<string> | undefined;
  #state: 'closed' | 'changing' | 'open' = 'closed';
  /** What Playwright is attached to in it: target IDs by session. */
  readonly #shown = new Map<string, { targetId: string; isPage: boolean }>();
  /**
   * Until Playwright's first command about the context is answered, it has not got it in place and would put workers
   * into another one. So it is attached to none before that, and then to those that run.
   */
  #settled = false;
  #firstCommand: number | undefined;
  /** Called when Playwright is attached to one less. */
  readonly #whenDetached = new Set<() => void>();

  /** @param pass hands Playwright a message as if it came from the browser */
  constructor(commands: OwnCommands, pass: (message: CdpMessage) => void, options: PersistentOptions) {
    this.#commands = commands;
    this.#pass = pass;
    this.#options = options;
    this.hidden = new HiddenTargets(commands, (target) => !this.#settled && this.#isOwn(target));
  }

  /** Whether a command is one that this answers itself. */
  takes({ id, sessionId, method, params }: CdpMessage): boolean {
    if (sessionId !== undefined) return false;
    if (method === 'Target.createBrowserContext' && this.#state === 'closed') {
      const { proxyServer }: ContextFields = params ?? {};
      if (proxyServer !== undefined) {
        const message = "a persistent context is the browser's own and cannot have a proxy of its own";
        this.#pass({ id, error: { code: -32_000, message } });
        return true;
      }
      void this.#answer(id, this.#open());
      return true;
    }
    if (method === 'Target.disposeBrowserContext' && this.#means(params)) {
      void this.#answer(id, this.#close());
      return true;
    }
    return false;
  }

  /** The command to send in place of `command`: older browsers know their own context by no ID. */
  redirect(command: CdpMessage): CdpMessage {
    if (command.sessionId !== undefined || !this.#means(command.params)) return command;
    if (this.#state === 'open') this.#firstCommand ??= command.id;
    const params = { ...command.params, browserContextId: undefined };
    // In a window of its own, as in a new context: a tab behind another one draws nothing.
    if (command.method === 'Target.createTarget') return { ...command, params: { ...params, newWindow: true } };
    return { ...command, params };
  }

  /** To be told of what the browser says to Playwright. */
  observe({ id, sessionId: parent, method, params }: CdpMessage): void {
    if (parent !== undefined) return;
    if (!this.#settled && id !== undefined && id === this.#firstCommand) setImmediate(() => this.#show());
    if (!method?.startsWith('Target.')) return;
    const { sessionId, targetInfo = {} }: AttachedFields = params ?? {};
    if (typeof sessionId !== 'string') return;
    if (method === 'Target.attachedToTarget' && this.#isOwn(targetInfo)) {
      this.#shown.set(sessionId, { targetId: String(targetInfo.targetId), isPage: targetInfo.type === 'page' });
    }
    if (method === 'Target.detachedFromTarget' && this.#shown.delete(sessionId)) {
      for (const tell of this.#whenDetached) tell();
    }
  }

  /**
   * Before its ID is known, every context that is not one of Playwright's is taken for it: there are none yet. The browser
   * itself, which may be talked to as well, is in none.
   */
  #isOwn({ type, browserContextId }: TargetInfo): boolean {
    return type !== 'browser' && (this.#id === undefined || browserContextId === this.#id);
  }

  #means(params: ContextFields = {}): boolean {
    return this.#id !== undefined && params.browserContextId === this.#id;
  }

  async #answer(id: number | undefined, work: Promise<object>): Promise<void> {
    try {
      this.#pass({ id, result: await work });
    } catch (error) {
      const message = `The browser's own context: ${errorMessage(error)}`;
      this.#pass({ id, error: { code: -32_000, message } });
    }
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
      for (const [sessionId, { isPage }] of this.#shown) {
        if (!isPage) this.#commands.post('Target.detachFromTarget', { sessionId });
      }
      await this.#commands.call('Browser.resetPermissions');
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
    const shown = new Set([...this.#shown.values()].map(({ targetId }) => targetId));
    for (const target of targets) {
      const { targetId, type } = target;
      if (!this.#isOwn(target) || !BACKGROUND_TYPES.has(type) || shown.has(targetId)) continue;
      this.#commands.post('Target.attachToTarget', { targetId, flatten: true });
    }
  }

  #isOpened(target: TargetInfo): boolean {
    return target.type === 'page' && this.#isOwn(target) && !this.#kept?.has(String(target.targetId));
  }

  /** Closes a page, and waits until Playwright has seen that it is closed. */
  async #closePage(targetId: string): Promise<void> {
    const detached = this.#detached(targetId);
    // One that has just closed by itself is refused.
    await this.#commands.call('Target.closeTarget', { targetId }).catch(() => undefined);
    await detached;
  }

  #detached(targetId: string): Promise<void> {
    const isShown = () => [...this.#shown.values()].some((shown) => shown.targetId === targetId);
    if (!isShown()) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#whenDetached.delete(check);
        resolve();
      };
      const check = () => {
        if (!isShown()) end();
      };
      const timer = setTimeout(end, CLOSE_MS);
      this.#whenDetached.add(check);
    });
  }

  /** Only a page can ask for the storage of its context to be cleared: one that nobody sees. */
  async #clear(): Promise<void> {
    const { targetId } = createdTarget.parse(
      await this.#commands.call('Target.createTarget', { url: 'about:blank', background: true }),
    );
    this.hidden.claim(targetId);
    const { sessionId } = attached.parse(
      await this.#commands.call('Target.attachToTarget', { targetId, flatten: true }),
    );
    await this.#commands.call('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' }, sessionId);
    await this.#commands.call('Storage.clearCookies');
    await this.#commands.call('Target.closeTarget', { targetId });
  }

  async #targets() {
    return targetList.parse(await this.#commands.call('Target.getTargets')).targetInfos;
  }

  async #findId(targets: readonly TargetInfo[]): Promise<string> {
    const { browserContextIds, defaultBrowserContextId } = contextList.parse(
      await this.#commands.call('Target.getBrowserContexts'),
    );
    const others = new Set<unknown>(browserContextIds);
    const own = targets.find(({ browserContextId }) => browserContextId !== undefined && !others.has(browserContextId));
    const id = defaultBrowserContextId ?? own?.browserContextId;
    if (typeof id !== 'string') throw new Error('the browser does not tell its ID, and has no page in it');
    return id;
  }
}
