import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import { setImmediate } from '../../common/clock.ts';
import { errorMessage } from '../../common/error-message.ts';
import { within } from '../../common/pause.ts';
import { type CdpMessage, fieldsOf } from '../message.ts';
import { SessionMap } from '../model/per-session.ts';
import type { Session, Target } from '../model/session.ts';
import type { Interceptor, InterceptorTransport } from '../transport/interceptor.ts';
import { type BrowserHealth, contextList, targetList } from './browser-health.ts';
import { HiddenTargets } from './hidden-targets.ts';

/** What happens to a persistent context when it closes. */
export interface PersistentOptions {
  /** Also clears its cookies and storage when Playwright closes it. */
  clear: boolean;
}

const createdTarget = v.looseObject({ targetId: v.string() });
const attached = v.looseObject({ sessionId: v.string() });

/** The targets that extensions run in. The browser attaches Playwright to those that start while it is connected. */
const BACKGROUND_TYPES = new Set(['service_worker', 'background_page']);
const NO_PROXY = "a persistent context is the browser's default context and cannot have a separate proxy";
/** Chromium's error code for rejected commands. */
const REFUSED = -32_000;
/** How often pages are closed that other pages opened in the meantime. */
const SWEEPS = 5;
/** Time limit for a session to end, in ms. */
const DETACH_MS = 5_000;

/** The fields of a target that show which context it belongs to. */
type OfContext = Pick<Target, 'type' | 'contextId'>;
type ListedTarget = OfContext & Pick<Target, 'id'>;

/**
 * Gives Playwright the browser's default context, which has its profile and extensions, when Playwright creates a new
 * one. For Playwright it is a context like any other: Playwright applies the options of `newContext` itself, page by
 * page, and traces, videos and timeouts work as usual. When Playwright closes the context, pages opened in it are
 * closed and permissions are reset; cookies and storage stay unless `clear` is set.
 *
 * While it is open, Playwright gets a new context for every further one. While it is closed, Playwright sees nothing of
 * it; so this interceptor also handles the targets that are always hidden from Playwright.
 */
export class PersistentContext implements Interceptor {
  readonly #transport: InterceptorTransport;
  readonly #options: PersistentOptions;
  /** Hides targets from Playwright: all of the default context while Playwright does not use it. */
  readonly #hidden: HiddenTargets;
  /** Called when Playwright's session on a page that is being closed has ended: each waits for its page alone. */
  readonly #closing: SessionMap<() => void, null>;
  #id: string | undefined;
  /** Pages that existed before Playwright first got the context: they stay open. */
  #kept: Set<string> | undefined;
  #state: 'closed' | 'opening' | 'open' | 'closing' = 'closed';
  /** While it is being closed: all commands to close it wait for the same end, and so does the next one to open it. */
  #end: Promise<object> | null = null;
  /**
   * Until the first command about the context has a response, Playwright has not registered the context, and would
   * assign workers to another one. So Playwright is attached to no workers before that, and then to those that run.
   */
  #settled = false;
  #firstCommand: number | undefined;

  constructor(transport: InterceptorTransport, options: PersistentOptions, health?: BrowserHealth) {
    this.#transport = transport;
    this.#options = options;
    this.#hidden = new HiddenTargets(transport, health);
    transport.view.addRule((target) => !this.#settled && this.#isOwn(target));
    this.#closing = new SessionMap(transport.model, (_, isClosed) => isClosed());
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    const { id, method, params, sessionId } = command;
    const isFree = this.#state === 'closed' || this.#state === 'closing';
    if (sessionId === undefined && method === 'Target.createBrowserContext' && isFree) {
      const { proxyServer } = fieldsOf<Protocol.Target.CreateBrowserContextRequest>(params);
      if (proxyServer === undefined) void this.#respond(id, this.#open());
      else this.#transport.deliver({ id, error: { code: REFUSED, message: NO_PROXY } });
      return null;
    }
    const isAboutOwn = sessionId === undefined && this.#isAboutOwn(params);
    if (isAboutOwn && method === 'Target.disposeBrowserContext') {
      this.#end ??= this.#close();
      void this.#respond(id, this.#end);
      return null;
    }
    // Only what the browser gets: it waits for the response.
    const passed = this.#hidden.onCommand(command);
    return isAboutOwn ? this.#withoutContextId(passed) : passed;
  }

  onMessage(message: CdpMessage): CdpMessage {
    const shown = this.#hidden.onMessage(message);
    const { id, sessionId } = message;
    if (sessionId !== undefined) return shown;
    if (!this.#settled && id !== undefined && id === this.#firstCommand) setImmediate(() => this.#show());
    return shown;
  }

  /** Older browsers have no ID for the default context. */
  #withoutContextId(command: CdpMessage): CdpMessage {
    if (this.#state === 'open') this.#firstCommand ??= command.id;
    const params = { ...fieldsOf(command.params), browserContextId: undefined };
    // In a separate window, as in a new context: a tab in the background is not rendered.
    if (command.method === 'Target.createTarget') return { ...command, params: { ...params, newWindow: true } };
    return { ...command, params };
  }

  /**
   * Until its ID is known, every context that Playwright has not created counts as the default one: there are no others
   * yet. The browser target, which can have sessions as well, is in none.
   */
  #isOwn({ type, contextId }: OfContext): boolean {
    return type !== 'browser' && (this.#id === undefined || contextId === this.#id);
  }

  #isAboutOwn(params: unknown): boolean {
    if (this.#id === undefined) return false;
    return fieldsOf<Protocol.Target.DisposeBrowserContextRequest>(params).browserContextId === this.#id;
  }

  async #respond(id: number | undefined, work: Promise<object>): Promise<void> {
    const response = await work.then(
      (result) => ({ id, result }),
      (error) => ({ id, error: { code: REFUSED, message: `The browser's own context: ${errorMessage(error)}` } }),
    );
    this.#transport.deliver(response);
  }

  async #open(): Promise<object> {
    this.#state = 'opening';
    try {
      // It is closed well enough even if that failed: the client got the error.
      await this.#end?.catch(() => undefined);
      const targets = await this.#targets();
      this.#id ??= await this.#findId(targets);
      this.#kept ??= new Set(targets.filter((target) => this.#isOwn(target)).map(({ id }) => id));
      this.#state = 'open';
      return { browserContextId: this.#id };
    } catch (error) {
      this.#state = 'closed';
      throw error;
    }
  }

  async #close(): Promise<object> {
    this.#state = 'closing';
    this.#settled = false;
    this.#firstCommand = undefined;
    try {
      for (let sweep = 0; sweep < SWEEPS; sweep++) {
        const pages = (await this.#targets()).filter(({ type }) => type === 'page');
        const opened = pages.filter((page) => this.#isOwn(page) && !this.#kept?.has(page.id));
        if (opened.length === 0) break;
        await Promise.all(opened.map(({ id }) => this.#closePage(id)));
      }
      for (const session of this.#transport.model.sessions()) {
        const isBackground = isPlaywrights(session) && session.target.type !== 'page' && this.#isOwn(session.target);
        if (isBackground) this.#transport.post('Target.detachFromTarget', { sessionId: session.id });
      }
      await this.#transport.call('Browser.resetPermissions');
      if (this.#options.clear) await this.#clear();
      return {};
    } finally {
      this.#end = null;
      // The next command to open it may be waiting already.
      if (this.#state === 'closing') this.#state = 'closed';
    }
  }

  /** Attaches Playwright to running extension workers and pages. */
  async #show(): Promise<void> {
    this.#settled = true;
    // This fails only when the connection is closed.
    const targets = await this.#targets().catch(() => []);
    for (const target of targets) {
      if (!this.#isOwn(target) || !BACKGROUND_TYPES.has(target.type) || this.#sessionOn(target.id)) continue;
      this.#transport.post('Target.attachToTarget', { targetId: target.id, flatten: true });
    }
  }

  /** Playwright's session on a target. */
  #sessionOn(targetId: string): Session | undefined {
    return [...(this.#transport.model.target(targetId)?.sessions ?? [])].find(isPlaywrights);
  }

  /** Closes a page, and waits (5 s at most) until Playwright has received its end. */
  async #closePage(targetId: string): Promise<void> {
    const session = this.#sessionOn(targetId);
    const isClosed = session && new Promise<void>((resolve) => this.#closing.set(resolve, null, session.id));
    // This fails for a page that has just closed itself.
    await this.#transport.call('Target.closeTarget', { targetId }).catch(() => undefined);
    if (isClosed) await within(isClosed, DETACH_MS, undefined);
  }

  /** Only a page can clear the storage of its context; this one is hidden. */
  async #clear(): Promise<void> {
    const { targetId } = v.parse(
      createdTarget,
      await this.#transport.call('Target.createTarget', { url: 'about:blank', background: true }),
    );
    this.#transport.view.claim(targetId);
    const { sessionId } = v.parse(
      attached,
      await this.#transport.call('Target.attachToTarget', { targetId, flatten: true }),
    );
    await this.#transport.call('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' }, sessionId);
    await this.#transport.call('Storage.clearCookies');
    await this.#transport.call('Target.closeTarget', { targetId });
  }

  async #targets(): Promise<ListedTarget[]> {
    const { targetInfos } = v.parse(targetList, await this.#transport.call('Target.getTargets'));
    return targetInfos.map(({ targetId: id, type, browserContextId: contextId }) => ({ id, type, contextId }));
  }

  async #findId(targets: readonly ListedTarget[]): Promise<string> {
    const { browserContextIds, defaultBrowserContextId } = v.parse(
      contextList,
      await this.#transport.call('Target.getBrowserContexts'),
    );
    const others = new Set<unknown>(browserContextIds);
    const own = targets.find(({ contextId }) => contextId !== undefined && !others.has(contextId));
    const id = defaultBrowserContextId ?? own?.contextId;
    if (typeof id !== 'string') throw new Error('the browser does not report its ID, and has no page in it');
    return id;
  }
}

/** Whether Playwright is attached to a target through this session, not through the session on a page. */
function isPlaywrights({ isClients, parent, veil }: Session): boolean {
  return isClients && !parent && !veil;
}
