import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import { monotonicNow, systemClock } from '../../common/clock.ts';
import { within } from '../../common/pause.ts';
import { printable } from '../../printable.ts';
import { type CdpMessage, fieldsOf } from '../message.ts';
import type { CommandParams, InterceptorTransport } from '../transport/interceptor.ts';

/** Response to `Target.getBrowserContexts`. */
export const contextList = v.looseObject({
  browserContextIds: v.array(v.string()),
  // Chromium reports it since 2025.
  defaultBrowserContextId: v.optional(v.string()),
});
/** Response to `Target.getTargets`. */
export const targetList = v.looseObject({
  targetInfos: v.array(
    v.looseObject({ targetId: v.string(), type: v.string(), browserContextId: v.optional(v.string()) }),
  ),
});

/** How long opening a context or a page may take before the browser counts as broken, in ms. */
const OPENED_MS = 10_000;
/** How long it may have taken when the client closes the context that it waits in, in ms. */
const OPENED_LATE_MS = 3_000;
/** Time limit for the response to one close, in ms: Chromium never sends it for some workers of a disposed context. */
const CLOSE_RESPONSE_MS = 1_000;
/** How long no leftover may end before the browser counts as broken, in ms. A page ends after the response. */
const CLOSED_MS = 5_000;
/** The delay before the next look, in ms: workers end some time after their context. */
const LOOK_MS = 50;
/** A test has closed the context meanwhile. The browser is not the cause. */
const CLOSED_MEANWHILE = /browser context with id/i;
/** What opens a context or a page, and its name in messages. */
const OPENS: ReadonlyMap<string, string> = new Map([
  ['Target.createBrowserContext', 'a context'],
  ['Target.createTarget', 'a page'],
]);

/** What a browser has besides its default context. */
interface Contents {
  readonly contexts: readonly string[];
  readonly targets: readonly v.InferOutput<typeof targetList>['targetInfos'][number][];
  /** Undefined: the browser does not report it. */
  readonly defaultContext: string | undefined;
}

/** What the browser has, and must not have. */
type Left = Pick<Contents, 'contexts' | 'targets'>;
type Cleaning = 'Browser.cancelDownload' | 'Target.closeTarget' | 'Target.disposeBrowserContext';

/** A context or page that is being opened. */
interface Opening {
  readonly what: string;
  readonly since: number;
  readonly isContext: boolean;
  /** Of a page. */
  readonly contextId: unknown;
}

/**
 * Whether a browser is still good for the next test: it opens contexts and pages, and has nothing that it did not have
 * when this client connected. `HiddenTargets` feeds it, next to the browser.
 */
export class BrowserHealth {
  /** Whether others use the browser, too: what they open meanwhile stays. */
  readonly #runsAlready: boolean;
  #transport: InterceptorTransport | undefined;
  /** What the browser had when the client connected. */
  #before: Contents = { contexts: [], targets: [], defaultContext: undefined };
  #asked = false;
  /** Contexts that were opened on this connection, and are not closed. */
  readonly #own = new Set<string>();
  /** Pages that were opened on this connection, in a browser that runs already. */
  readonly #pages = new Set<string>();
  /** Contexts that are not the client's: of other clients, or closed. */
  readonly #foreign = new Set<string>();
  /** Contexts and pages that are being opened, and contexts that are being closed, by the command's ID. */
  readonly #opening = new Map<number, Opening>();
  readonly #closing = new Map<number, string>();
  /** Pages that the browser has opened, but not attached the client to, by target. The client waits for that. */
  readonly #unattached = new Map<string, Opening>();
  /** Contexts that {@link clean} has closed. The browser may still list them. */
  readonly #disposed = new Set<string>();
  /** Downloads in progress. */
  readonly #downloads = new Set<string>();
  #refusal: string | null = null;

  constructor(runsAlready = false) {
    this.#runsAlready = runsAlready;
  }

  /** The connection is open. */
  attach(transport: InterceptorTransport): void {
    this.#transport = transport;
  }

  /**
   * The client is about to learn of targets: first looks at what the browser has. The browser responds to commands in
   * their order, so this is known before it announces a target.
   */
  look(): void {
    if (this.#asked) return;
    this.#asked = true;
    this.#contents().then(
      (contents) => {
        this.#before = contents;
        for (const id of contents.contexts) if (!this.#own.has(id)) this.#foreign.add(id);
      },
      () => undefined,
    );
  }

  /** Whether the client may see targets of a context: it has opened it, or it is the browser's default context. */
  isClients(contextId: string | undefined): boolean {
    if (contextId === undefined) return false;
    const { defaultContext } = this.#before;
    if (this.#own.has(contextId)) return true;
    return defaultContext === undefined ? !this.#foreign.has(contextId) : contextId === defaultContext;
  }

  /** Takes the client's commands, and returns what the browser gets. */
  onCommand(command: CdpMessage): CdpMessage {
    const { id, method = '', params } = command;
    if (id === undefined) return command;
    const what = OPENS.get(method);
    if (what) {
      const isContext = method === 'Target.createBrowserContext';
      const contextId = isContext ? undefined : fieldsOf<Protocol.Target.CreateTargetRequest>(params).browserContextId;
      this.#opening.set(id, { what, since: monotonicNow(), isContext, contextId });
    }
    if (method === 'Target.disposeBrowserContext') {
      this.#closing.set(id, String(fieldsOf<Protocol.Target.DisposeBrowserContextRequest>(params).browserContextId));
    }
    // If this process is killed, nobody else ends what it has opened.
    if (!this.#runsAlready || method !== 'Target.createBrowserContext') return command;
    return { ...command, params: { ...fieldsOf(params), disposeOnDetach: true } };
  }

  onMessage({ id, method, params, result, error, sessionId }: CdpMessage): void {
    if (id !== undefined) {
      this.#onResponse(id, result, error, sessionId === undefined);
    } else if (method === 'Target.attachedToTarget') {
      const { targetInfo } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(params);
      this.#unattached.delete(String(fieldsOf<Protocol.Target.TargetInfo>(targetInfo).targetId));
    } else if (method === 'Browser.downloadWillBegin') {
      this.#downloads.add(String(fieldsOf<Protocol.Browser.DownloadWillBeginEvent>(params).guid));
    } else if (method === 'Browser.downloadProgress') {
      const { guid, state } = fieldsOf<Protocol.Browser.DownloadProgressEvent>(params);
      if (state !== 'inProgress') this.#downloads.delete(String(guid));
    }
  }

  #onResponse(id: number, result: unknown, error: CdpMessage['error'], isClients: boolean): void {
    const opening = this.#opening.get(id);
    const closed = this.#closing.get(id);
    this.#opening.delete(id);
    this.#closing.delete(id);
    // The sessions that a test opens may send anything.
    if (opening && error && isClients && !CLOSED_MEANWHILE.test(String(error.message))) {
      this.#refusal ??= `it refused to open ${opening.what}: "${printable(String(error.message))}"`;
    }
    const { browserContextId, targetId } = fieldsOf<
      Protocol.Target.CreateBrowserContextResponse & Protocol.Target.CreateTargetResponse
    >(result);
    if (opening && isClients && typeof targetId === 'string' && !this.#transport?.model.target(targetId)) {
      this.#unattached.set(targetId, opening);
    }
    if (this.#runsAlready && opening && typeof targetId === 'string') this.#pages.add(targetId);
    if (opening?.isContext && typeof browserContextId === 'string') this.#own.add(browserContextId);
    if (closed !== undefined && !error) this.#closed(closed);
  }

  #closed(contextId: string): void {
    if (this.#own.delete(contextId)) this.#foreign.add(contextId);
    for (const [targetId, opening] of this.#unattached) {
      if (opening.contextId !== contextId) continue;
      this.#refusal ??= late(opening, OPENED_LATE_MS);
      this.#unattached.delete(targetId);
    }
  }

  /**
   * Why the browser is broken although it responds; null if it is not known to be.
   * @param limit how long opening a context or a page may take, in ms
   */
  fault(limit = OPENED_MS): string | null {
    if (this.#refusal !== null) return this.#refusal;
    for (const opening of this.#pending()) {
      const fault = late(opening, limit);
      if (fault !== null) return fault;
    }
    return null;
  }

  /**
   * Closes what the browser has and did not have when the client connected. For a clean browser, this takes one round
   * trip. Returns why the browser must not be used again; null if nothing is left.
   * @param limit how long opening a context or page may take, in ms
   * @throws PoolwrightError when the connection is closed
   */
  async clean(limit = OPENED_MS): Promise<string | null> {
    for (const guid of this.#downloads) void this.#try('Browser.cancelDownload', { guid });
    let [fewest, since] = [Number.POSITIVE_INFINITY, monotonicNow()];
    for (;;) {
      // In one flight.
      const closing = [...this.#own].map((id) => this.#dispose(id));
      const [contents] = await Promise.all([this.#contents(), ...closing]);
      const left = this.#leftovers(contents);
      const count = left.contexts.length + left.targets.length;
      if (count === 0) break;
      if (count < fewest) [fewest, since] = [count, monotonicNow()];
      else if (monotonicNow() - since >= CLOSED_MS) return describeLeft(left);
      await this.#close(left);
    }
    while (this.#pending().length > 0 && this.fault(limit) === null) await delay(LOOK_MS);
    return this.fault(limit);
  }

  #pending(): Opening[] {
    return [...this.#opening.values(), ...this.#unattached.values()];
  }

  #leftovers({ contexts, targets, defaultContext }: Contents): Left {
    const known = new Set(this.#before.targets.map(({ targetId }) => targetId));
    const before = new Set(this.#before.contexts);
    const mayBeOthers = (id: string) => this.#runsAlready && !this.#own.has(id);
    const left = contexts.filter((id) => !before.has(id) && !this.#disposed.has(id) && !mayBeOthers(id));
    if (this.#runsAlready) {
      const isOurs = ({ targetId, browserContextId }: Contents['targets'][number]) =>
        this.#pages.has(targetId) && !left.includes(browserContextId ?? '');
      return { contexts: left, targets: targets.filter(isOurs) };
    }
    return {
      contexts: left,
      targets: targets.filter(({ targetId, type, browserContextId: contextId }) => {
        if (known.has(targetId)) return false;
        if (contextId === undefined) return true;
        // They end with their context.
        if (left.includes(contextId) || before.has(contextId) || this.#disposed.has(contextId)) return false;
        // Extensions and profiles have workers there.
        return type === 'page' || (defaultContext !== undefined && contextId !== defaultContext);
      }),
    };
  }

  async #close({ contexts, targets }: Left): Promise<void> {
    await Promise.all([
      ...contexts.map((id) => this.#dispose(id)),
      ...targets.map(({ targetId }) => this.#try('Target.closeTarget', { targetId })),
    ]);
    await delay(LOOK_MS);
  }

  async #dispose(browserContextId: string): Promise<void> {
    const isDisposed = await this.#try('Target.disposeBrowserContext', { browserContextId });
    this.#closed(browserContextId);
    if (isDisposed) this.#disposed.add(browserContextId);
  }

  /** Whether the browser does it, in time. */
  async #try<Method extends Cleaning>(method: Method, params: CommandParams<Method>): Promise<boolean> {
    const done = this.#transport?.call(method, params).then(
      () => true,
      () => false,
    );
    return done === undefined ? false : await within(done, CLOSE_RESPONSE_MS, false);
  }

  async #contents(): Promise<Contents> {
    const asked = [this.#transport?.call('Target.getBrowserContexts'), this.#transport?.call('Target.getTargets')];
    const [contexts, targets] = await Promise.all(asked);
    const { browserContextIds, defaultBrowserContextId } = v.parse(contextList, contexts);
    const { targetInfos } = v.parse(targetList, targets);
    return { contexts: browserContextIds, targets: targetInfos, defaultContext: defaultBrowserContextId };
  }
}

/** What is wrong when something takes this long to open; null if it has not yet. */
function late({ what, since }: Opening, limit: number): string | null {
  const ms = monotonicNow() - since;
  return ms >= limit ? `it has not opened ${what} within ${Math.round(ms / 1000)} s` : null;
}

function describeLeft({ contexts, targets }: Left): string {
  const kinds = [...contexts.map(() => 'context'), ...targets.map(({ type }) => printable(type))];
  const listed = [...new Set(kinds)].slice(0, 5).join(', ');
  return `it has not closed what was opened in it within ${CLOSED_MS / 1000} s: ${listed}`;
}

async function delay(ms: number): Promise<void> {
  await new Promise<void>((resolve) => systemClock.after(ms, resolve));
}
