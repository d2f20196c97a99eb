import type { Protocol } from 'devtools-protocol';
import { setImmediate } from '../../../common/clock.ts';
import type { Windows } from '../../contexts/windows.ts';
import type { Savings } from '../../figures.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import type { Interceptor, InterceptorTransport } from '../../transport/interceptor.ts';
import { ForeignSessions } from '../contexts/foreign-sessions.ts';
import { commandKey, PipelinedCommands } from '../pipelined-commands.ts';
import { PageSetUp } from './page-set-up.ts';
import { PreparedPage } from './prepared-page.ts';

/** A page that nothing happens in sends few messages; more than this is a sign of an error. */
const MAX_HELD = 200;
/** Events that show that a prepared page is not usable. */
const ENDS = /^(?:Inspector\.targetCrashed|Target\.(?:detachedFromTarget|targetDestroyed|targetCrashed))$/;
/** Commands that show that a test is using its page. */
const IN_USE = /^(?:Page\.navigate|Runtime\.(?:callFunctionOn|evaluate))$/;

/** A context that is created before Puppeteer asks for one. */
interface PreparedContext {
  /**
   * `stock`: ready for Puppeteer. `taken`: Puppeteer has created it, but not its page yet. `shown`: its page, too.
   * `dropped`: Puppeteer gets nothing of the page.
   */
  state: 'stock' | 'taken' | 'shown' | 'dropped';
  /** The command that creates it. */
  readonly key: string;
  contextId?: string;
  page?: PreparedPage;
  isClosing?: boolean;
}

/**
 * Creates the next test's context while the current one is in use, with a page that is set up as Puppeteer set up the
 * last one. Puppeteer has no options for contexts that would be sent to the page, except for those that are part of the
 * commands: if these differ, the context is disposed.
 *
 * Where pages have windows, the context has no page: its window would take the focus.
 */
export class PreparedPages implements Interceptor {
  readonly #transport: InterceptorTransport;
  readonly #savings: Savings;
  readonly #windows: Windows;
  readonly #sent: PipelinedCommands;
  readonly #setUp: PageSetUp;
  readonly #foreign: ForeignSessions;
  readonly #contexts = new Set<PreparedContext>();
  #stock: PreparedContext | null = null;
  /** How Puppeteer creates its contexts. */
  #create: CdpMessage | null = null;

  constructor(transport: InterceptorTransport, savings: Savings, windows: Windows) {
    this.#transport = transport;
    this.#savings = savings;
    this.#windows = windows;
    this.#sent = new PipelinedCommands(transport, savings);
    this.#setUp = new PageSetUp(transport.model);
    this.#foreign = new ForeignSessions(transport.model);
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    if (this.#isOff) return command;
    this.#foreign.onCommand(command);
    if (this.#foreign.areInUse || this.#foreign.haveLooked) this.#dropStock();
    const { method = '', sessionId } = command;
    if (sessionId === undefined) return this.#onBrowserCommand(command);
    if (IN_USE.test(method)) setImmediate(() => this.#make());
    const page = this.#find((each) => each.state === 'shown' && each.page?.hasSession(sessionId) === true)?.page;
    if (page) return this.#ask(page, command);
    this.#setUp.onCommand(command);
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    if (this.#isOff) return message;
    const passed = this.#sent.onMessage(message);
    if (!passed) return null;
    const prepared = this.#about(passed);
    if (!prepared) {
      this.#setUp.onMessage(passed);
      return passed;
    }
    const { state, page } = prepared;
    if (state === 'dropped') {
      const { targetId } = fieldsOf<Protocol.Target.TargetDestroyedEvent>(passed.params);
      if (passed.method === 'Target.targetDestroyed' && page?.isTab(targetId)) this.#contexts.delete(prepared);
      else this.#discard(prepared);
      return null;
    }
    page?.take(passed);
    const isUnused = state === 'stock' || state === 'taken';
    const isBroken = passed.error !== undefined && passed.sessionId === undefined;
    if (isUnused && (isBroken || ENDS.test(passed.method ?? '') || (page?.length ?? 0) > MAX_HELD))
      this.#drop(prepared);
    return null;
  }

  /** Nothing will be prepared, so that nothing has to be learned. */
  get #isOff(): boolean {
    return this.#savings.isNear && this.#contexts.size === 0 && this.#sent.isIdle;
  }

  #onBrowserCommand(command: CdpMessage): CdpMessage | null {
    const { method, params } = command;
    if (method === 'Target.createBrowserContext') {
      const prepared = this.#stock;
      if (prepared?.key === commandKey(command) && this.#sent.ask(prepared.key, command)) {
        prepared.state = 'taken';
        this.#stock = null;
        return null;
      }
      this.#dropStock();
      if (!this.#create) this.#askForWindows();
      this.#create = { method, params };
      return command;
    }
    const { browserContextId } = fieldsOf<Protocol.Target.CreateTargetRequest>(params);
    const prepared = this.#find(({ contextId }) => contextId !== undefined && contextId === browserContextId);
    if (method === 'Target.disposeBrowserContext') {
      this.#onDispose(command, prepared);
      return command;
    }
    if (method !== 'Target.createTarget') return command;
    if (prepared?.state === 'taken' && prepared.page) {
      if (commandKey(command) === commandKey(this.#setUp.create(String(browserContextId)) ?? {})) {
        prepared.state = 'shown';
        prepared.page.show();
        return this.#ask(prepared.page, command);
      }
      this.#drop(prepared);
    }
    this.#setUp.onCommand(command);
    return command;
  }

  /** Puppeteer does not ask for the browser's name. */
  #askForWindows(): void {
    const version = this.#transport.call('Browser.getVersion');
    // Without a response the connection is lost, or will be.
    void version.then((result) => this.#windows.onResponse({ result })).catch(() => undefined);
  }

  #ask(page: PreparedPage, command: CdpMessage): CdpMessage | null {
    const expected = page.ask(command);
    if (!expected) return command;
    this.#savings.used(expected.sentAt);
    return null;
  }

  #onDispose(command: CdpMessage, prepared: PreparedContext | undefined): void {
    setImmediate(() => this.#make());
    if (prepared?.state === 'shown') prepared.page?.queueResponse(command);
    else if (prepared) this.#drop(prepared);
  }

  #make(): void {
    const { areInUse, haveLooked } = this.#foreign;
    if (!this.#create || this.#stock || areInUse || haveLooked || !this.#savings.isFar) return;
    const prepared: PreparedContext = { state: 'stock', key: commandKey(this.#create) };
    this.#stock = prepared;
    this.#contexts.add(prepared);
    this.#sent.send(prepared.key, this.#create, ({ result }) =>
      this.#onMade(prepared, fieldsOf<Protocol.Target.CreateBrowserContextResponse>(result).browserContextId),
    );
  }

  #onMade(prepared: PreparedContext, browserContextId: unknown): void {
    if (typeof browserContextId !== 'string') {
      this.#drop(prepared);
      this.#contexts.delete(prepared);
      return;
    }
    prepared.contextId = browserContextId;
    if (prepared.state === 'dropped') {
      this.#dispose(prepared);
      return;
    }
    const create = this.#setUp.create(browserContextId);
    if (!create || this.#windows.exist) {
      if (prepared.state !== 'stock') this.#contexts.delete(prepared);
      return;
    }
    prepared.page = new PreparedPage(browserContextId, create, this.#setUp.steps, {
      send: (command) => this.#transport.send(command),
      deliver: (message) => this.#transport.deliver(message),
      now: () => this.#savings.now(),
      onShown: () => this.#contexts.delete(prepared),
      onDeviation: () => this.#setUp.forget(),
    });
  }

  #dropStock(): void {
    if (this.#stock) this.#drop(this.#stock);
  }

  /** Its page is not needed; the context is not needed either unless Puppeteer has taken it. */
  #drop(prepared: PreparedContext): void {
    const { state, key, contextId } = prepared;
    prepared.state = 'dropped';
    if (state === 'stock') {
      this.#stock = null;
      this.#sent.drop((_, each) => each === key);
      if (contextId !== undefined) this.#dispose(prepared);
    } else if (prepared.page) {
      this.#discard(prepared);
    } else {
      this.#contexts.delete(prepared);
    }
  }

  /** Closes the page that Puppeteer does not get, as soon as its ID is known. */
  #discard(prepared: PreparedContext): void {
    const targetId = prepared.page?.targetId;
    if (targetId === undefined || prepared.isClosing) return;
    prepared.isClosing = true;
    this.#sent.post({ method: 'Target.closeTarget', params: { targetId } });
  }

  #dispose(prepared: PreparedContext): void {
    prepared.isClosing = true;
    const command = { method: 'Target.disposeBrowserContext', params: { browserContextId: prepared.contextId } };
    this.#sent.post(command, () => this.#contexts.delete(prepared));
  }

  #about(message: CdpMessage): PreparedContext | undefined {
    return this.#find(({ page }) => page?.claims(message) === true);
  }

  #find(is: (prepared: PreparedContext) => boolean): PreparedContext | undefined {
    for (const prepared of this.#contexts) if (is(prepared)) return prepared;
    return undefined;
  }
}
