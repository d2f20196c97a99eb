import type { Protocol } from 'devtools-protocol';
import { setImmediate } from '../../../common/clock.ts';
import { Windows } from '../../contexts/windows.ts';
import type { Savings } from '../../figures.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { PerSession } from '../../model/per-session.ts';
import type { Session } from '../../model/session.ts';
import type { Interceptor, InterceptorTransport } from '../../transport/interceptor.ts';
import { commandKey, PipelinedCommands } from '../pipelined-commands.ts';
import { ForeignSessions } from './foreign-sessions.ts';

type ContextFields = Protocol.Browser.SetDownloadBehaviorRequest & Protocol.Target.CreateTargetRequest;

/** How the client creates a context and its first page, command by command, learned from the last time. */
class ContextHabits {
  #context: CdpMessage | undefined;
  #download: CdpMessage | undefined;
  #target: CdpMessage | undefined;
  #asksForWindow = false;

  /** Takes each command of the client to the browser itself. */
  learn({ method, params }: CdpMessage): void {
    if (method === 'Target.createBrowserContext') this.#context = { method, params };
    const { browserContextId, url } = fieldsOf<ContextFields>(params);
    if (browserContextId === undefined) return;
    if (method === 'Browser.setDownloadBehavior') this.#download = { method, params };
    if (method === 'Target.createTarget' && url === 'about:blank') this.#target = { method, params };
  }

  /** Takes the first command that the client sends to a page. */
  learnFirst({ method, params }: CdpMessage): void {
    this.#asksForWindow = method === 'Browser.getWindowForTarget' && commandKey({ params }) === commandKey({});
  }

  /** The command that creates a context; null until it and the following ones are known. */
  get context(): CdpMessage | null {
    return this.#download && this.#target ? (this.#context ?? null) : null;
  }

  /** The command that configures downloads in a context. */
  download(browserContextId: string): CdpMessage {
    return { ...this.#download, params: { ...fieldsOf(this.#download?.params), browserContextId } };
  }

  target(browserContextId: string): CdpMessage {
    return { ...this.#target, params: { ...fieldsOf(this.#target?.params), browserContextId } };
  }

  /** The first command to a page. */
  first(sessionId: string): CdpMessage | null {
    return this.#asksForWindow ? { method: 'Browser.getWindowForTarget', sessionId } : null;
  }
}

/** A browser context that is created before the client asks for one. */
interface PreparedContext {
  /**
   * `stock`: ready for the client. `taken`: the client has created it, but not its page yet. `shown`: its page, too.
   * `dropped`: the client will not ask for it, or for its page.
   */
  state: 'stock' | 'taken' | 'shown' | 'dropped';
  /** Set once the browser has created it. */
  contextId?: string;
  /** Session of its page, which waits for the debugger. */
  sessionId?: string;
  /** Keys of the commands sent for it, which the client must send. */
  readonly keys: Set<string>;
}

/** A page that waits for the debugger sends almost no messages; more than this is a sign of an error. */
const MAX_HELD = 100;

/**
 * Creates the next test's context while the current one is in use, with a page that waits for the debugger, as the
 * client created them last time. Nothing that is sent early depends on the context's options: the client sends those
 * itself before the page runs. If the client creates a context with other parameters, this one is disposed.
 *
 * Where pages have windows, the context has no page: its window would lie in front of the current one, at another
 * position than it would have without it.
 */
export class PreparedContexts implements Interceptor {
  readonly #transport: InterceptorTransport;
  readonly #savings: Savings;
  readonly #sent: PipelinedCommands;
  readonly #habits = new ContextHabits();
  readonly #foreign: ForeignSessions;
  readonly #windows = new Windows();
  /** Ready for the next request. */
  #stock: PreparedContext | null = null;
  /** All contexts whose page the client does not have yet. */
  readonly #contexts = new Set<PreparedContext>();
  /** Whether the client has not sent anything to a page yet. */
  readonly #pages: PerSession<{ isFresh: boolean }>;

  constructor(transport: InterceptorTransport, savings: Savings) {
    this.#transport = transport;
    this.#savings = savings;
    this.#sent = new PipelinedCommands(transport, savings);
    this.#foreign = new ForeignSessions(transport.model);
    this.#pages = new PerSession(transport.model, ({ target, parent }) => ({
      isFresh: target.type === 'page' && !parent,
    }));
    transport.model.onSession((session) => this.#onSession(session));
    transport.model.onSessionEnd(({ id }) => {
      const prepared = this.#find(({ sessionId }) => sessionId === id);
      if (prepared) this.#drop(prepared);
    });
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    this.#foreign.onCommand(command);
    if (this.#foreign.areInUse || this.#foreign.haveLooked) this.#dropStock();
    const { method, sessionId } = command;
    if (sessionId === undefined) return this.#onBrowserCommand(command);
    const page = this.#pages.of(sessionId);
    if (page?.isFresh) {
      page.isFresh = false;
      this.#habits.learnFirst(command);
    }
    if (method === 'Browser.getWindowForTarget') return this.#sent.ask(commandKey(command), command) ? null : command;
    // The current test's page is running: the browser has idle time now.
    if (method === 'Runtime.callFunctionOn') setImmediate(() => this.#make());
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    if (message.id !== undefined) {
      this.#windows.onResponse(message);
      return this.#sent.onMessage(message);
    }
    const session = this.#transport.model.session(message.sessionId);
    if (session?.veil?.state !== 'held') return message;
    const prepared = this.#of(session.target.contextId);
    const isBroken = message.method === 'Inspector.targetCrashed' || session.veil.messages.length >= MAX_HELD;
    if (prepared && isBroken) this.#drop(prepared);
    return message;
  }

  #onBrowserCommand(command: CdpMessage): CdpMessage | null {
    const { method, params } = command;
    const key = commandKey(command);
    if (method === 'Target.createBrowserContext') {
      if (this.#stock?.keys.has(key) && this.#sent.ask(key, command)) {
        this.#stock.state = 'taken';
        this.#stock = null;
        return null;
      }
      this.#dropStock();
    }
    this.#habits.learn(command);
    const { browserContextId } = fieldsOf<Protocol.Target.DisposeBrowserContextRequest>(params);
    const prepared = this.#of(browserContextId);
    if (method === 'Target.disposeBrowserContext') {
      if (prepared) this.#drop(prepared);
      setImmediate(() => this.#make());
      return command;
    }
    if (prepared?.contextId !== undefined && method === 'Target.createTarget' && this.#sent.has(key)) {
      prepared.state = 'shown';
      if (prepared.sessionId !== undefined) this.#contexts.delete(prepared);
      this.#transport.view.show(prepared.contextId);
    }
    return this.#sent.ask(key, command) ? null : command;
  }

  /** The first page of a prepared context is the one created in it; the client has created any later one. */
  #onSession({ id, parent, target: { type, contextId } }: Session): void {
    const prepared = type === 'page' && !parent && !this.#windows.exist ? this.#of(contextId) : undefined;
    if (!prepared || prepared.sessionId !== undefined) return;
    prepared.sessionId = id;
    if (prepared.state === 'shown') this.#contexts.delete(prepared);
    const first = this.#habits.first(id);
    if (first) this.#send(prepared, first);
  }

  #make(): void {
    const { context } = this.#habits;
    const { areInUse, haveLooked } = this.#foreign;
    if (!context || this.#stock || areInUse || haveLooked || !this.#savings.isFar) return;
    const prepared: PreparedContext = { state: 'stock', keys: new Set() };
    this.#stock = prepared;
    this.#contexts.add(prepared);
    this.#send(prepared, context, (response) => this.#onMade(prepared, response));
  }

  #onMade(prepared: PreparedContext, { result }: CdpMessage): void {
    const { browserContextId } = fieldsOf<Protocol.Target.CreateBrowserContextResponse>(result);
    if (typeof browserContextId !== 'string') {
      this.#drop(prepared);
      return;
    }
    prepared.contextId = browserContextId;
    if (prepared.state === 'dropped') {
      this.#dispose(browserContextId);
      return;
    }
    this.#send(prepared, this.#habits.download(browserContextId));
    if (this.#windows.exist) return;
    this.#transport.view.hold(browserContextId);
    this.#send(prepared, this.#habits.target(browserContextId));
  }

  #send(prepared: PreparedContext, command: CdpMessage, onResponse?: (response: CdpMessage) => void): void {
    const key = commandKey(command);
    prepared.keys.add(key);
    this.#sent.send(key, command, onResponse);
  }

  #dropStock(): void {
    if (this.#stock) this.#drop(this.#stock);
  }

  /** Its page is not needed; the context is not needed either unless the client has taken it. */
  #drop(prepared: PreparedContext): void {
    const { contextId, state } = prepared;
    prepared.state = 'dropped';
    this.#contexts.delete(prepared);
    this.#sent.drop((_, key) => prepared.keys.has(key));
    if (state === 'taken' && contextId !== undefined) this.#transport.view.discard(contextId);
    if (state !== 'stock') return;
    this.#stock = null;
    if (contextId !== undefined) this.#dispose(contextId);
  }

  #dispose(browserContextId: string): void {
    const { view } = this.#transport;
    view.hide(browserContextId);
    const command = { method: 'Target.disposeBrowserContext', params: { browserContextId } };
    this.#sent.post(command, () => view.closed(browserContextId));
  }

  #of(contextId: unknown): PreparedContext | undefined {
    return contextId === undefined ? undefined : this.#find((prepared) => prepared.contextId === contextId);
  }

  #find(is: (prepared: PreparedContext) => boolean): PreparedContext | undefined {
    for (const prepared of this.#contexts) if (is(prepared)) return prepared;
    return undefined;
  }
}
