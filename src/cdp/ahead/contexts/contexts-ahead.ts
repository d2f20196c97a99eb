import type { Protocol } from 'devtools-protocol';
import type { Interceptor, InterceptorLink } from '../../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import type { Savings } from '../savings.ts';
import { commandKey, SentAhead } from '../sent-ahead.ts';
import type { ContextAhead } from './context-ahead.ts';
import { ContextHabits } from './context-habits.ts';
import { HiddenSessions } from './hidden-sessions.ts';
import { Onlookers } from './onlookers.ts';
import { Windows } from './windows.ts';

/** A page that waits to be let run says next to nothing; of one that says more something is wrong. */
const MAX_HELD = 100;

/**
 * Makes the next test's context while the present one is in use, and in it a page that waits to be let run, as the client
 * asked for them the last time. Nothing that is sent ahead depends on the context's options: those the client sends
 * itself, before it lets the page run. When it asks for a context with other parameters, this one is disposed of.
 *
 * Where pages have windows there is no page in it: its window would lie before the present one, and elsewhere than it does
 * when there is none before it.
 */
export class ContextsAhead implements Interceptor {
  readonly #link: InterceptorLink;
  readonly #savings: Savings;
  readonly #sent: SentAhead;
  readonly #habits = new ContextHabits();
  readonly #onlookers = new Onlookers();
  readonly #hidden = new HiddenSessions();
  /** Made for the next one who asks. */
  #stock: ContextAhead | null = null;
  /** All that the client has not yet been shown the page of. */
  readonly #contexts = new Set<ContextAhead>();
  /** Sessions of pages that the client has sent nothing to. */
  readonly #fresh = new Set<string>();
  readonly #windows = new Windows();
  /** What came while the client is being told of a page: it must hear of that first. */
  #behindPage: CdpMessage[] | null = null;

  constructor(link: InterceptorLink, savings: Savings) {
    this.#link = link;
    this.#savings = savings;
    this.#sent = new SentAhead(link, savings);
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    this.#onlookers.onCommand(command);
    this.#windows.onCommand(command);
    if (this.#onlookers.isNear || this.#onlookers.isWatched) this.#dropStock();
    if (command.sessionId === undefined) return this.#onBrowserCommand(command);
    const { method, sessionId } = command;
    if (this.#fresh.delete(sessionId)) this.#habits.learnFirst(command);
    if (method === 'Browser.getWindowForTarget') return this.#sent.ask(commandKey(command), command) ? null : command;
    // The present test's page is there and at work: now and then the browser has time.
    if (method === 'Runtime.callFunctionOn') setImmediate(() => this.#make());
    return command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    const passed = this.#judge(message);
    if (!passed || !this.#behindPage) return passed;
    this.#behindPage.push(passed);
    return null;
  }

  #judge(message: CdpMessage): CdpMessage | null {
    const { id, method, sessionId } = message;
    if (id !== undefined) return this.#onAnswer(message);
    if (sessionId !== undefined) {
      const ahead = this.#holderOf(sessionId);
      if (!ahead) return this.#hidden.onMessage(message);
      if (method === 'Inspector.targetCrashed' || ahead.held.push(message) > MAX_HELD) this.#drop(ahead);
      return null;
    }
    if (method === 'Target.attachedToTarget') return this.#onAttached(message);
    if (method === 'Target.detachedFromTarget') return this.#onDetached(message);
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
    const ahead = this.#find(({ contextId }) => contextId !== undefined && contextId === browserContextId);
    if (method === 'Target.disposeBrowserContext') {
      if (ahead) this.#drop(ahead);
      setImmediate(() => this.#make());
      return command;
    }
    if (ahead && method === 'Target.createTarget' && this.#sent.has(key)) this.#show(ahead);
    return this.#sent.ask(key, command) ? null : command;
  }

  #onAnswer(message: CdpMessage): CdpMessage | null {
    this.#onlookers.onAnswer(message);
    this.#windows.onAnswer(message);
    return this.#sent.onMessage(message);
  }

  #onAttached(message: CdpMessage): CdpMessage | null {
    const { sessionId, targetInfo } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(message.params);
    const { browserContextId, type } = fieldsOf<Protocol.Target.TargetInfo>(targetInfo);
    if (typeof sessionId !== 'string') return message;
    if (this.#hidden.onAttached(sessionId, String(browserContextId))) return null;
    const ahead = this.#find((one) => one.contextId === browserContextId && one.page !== 'none');
    const isPage = type === 'page';
    // A second page is one that the client has asked for in another way.
    if (!ahead || (isPage && ahead.sessionId !== undefined)) {
      if (isPage) this.#fresh.add(sessionId);
      return message;
    }
    if (isPage) {
      ahead.sessionId = sessionId;
      const first = this.#habits.first(sessionId);
      if (first) this.#send(ahead, first);
    }
    if (ahead.page === 'shown') {
      if (isPage) this.#contexts.delete(ahead);
      return message;
    }
    ahead.sessions.add(sessionId);
    ahead.held.push(message);
    return null;
  }

  #onDetached(message: CdpMessage): CdpMessage | null {
    const { sessionId } = fieldsOf<Protocol.Target.DetachedFromTargetEvent>(message.params);
    if (typeof sessionId !== 'string') return message;
    this.#fresh.delete(sessionId);
    this.#sent.drop((of) => of === sessionId);
    const ahead = this.#holderOf(sessionId);
    if (!ahead) return this.#hidden.onDetached(sessionId) ? null : message;
    ahead.held.push(message);
    ahead.sessions.delete(sessionId);
    if (ahead.sessionId === sessionId) this.#drop(ahead);
    return null;
  }

  #make(): void {
    const { context } = this.#habits;
    const { isNear, isWatched } = this.#onlookers;
    if (!context || this.#stock || isNear || isWatched || !this.#savings.isFar) return;
    const ahead: ContextAhead = { state: 'stock', page: 'none', sessions: new Set(), held: [], keys: new Set() };
    this.#stock = ahead;
    this.#contexts.add(ahead);
    this.#send(ahead, context, (answer) => this.#onMade(ahead, answer));
  }

  #onMade(ahead: ContextAhead, { result }: CdpMessage): void {
    const { browserContextId } = fieldsOf<Protocol.Target.CreateBrowserContextResponse>(result);
    if (typeof browserContextId !== 'string') {
      this.#drop(ahead);
      return;
    }
    ahead.contextId = browserContextId;
    if (ahead.state === 'dropped') {
      this.#dispose(browserContextId);
      return;
    }
    this.#send(ahead, this.#habits.download(browserContextId));
    if (this.#windows.exist) return;
    ahead.page = 'asked for';
    this.#send(ahead, this.#habits.target(browserContextId));
  }

  /** The client asks for the page. */
  #show(ahead: ContextAhead): void {
    ahead.page = 'shown';
    if (ahead.sessionId !== undefined) this.#contexts.delete(ahead);
    for (const message of ahead.held.splice(0)) this.#link.deliver(message);
    this.#behindPage ??= [];
    // In line behind those, which are delivered in tasks of their own.
    setImmediate(() => {
      const behind = this.#behindPage ?? [];
      this.#behindPage = null;
      for (const message of behind) this.#link.deliver(message);
    });
  }

  #send(ahead: ContextAhead, command: CdpMessage, onAnswer?: (answer: CdpMessage) => void): void {
    const key = commandKey(command);
    ahead.keys.add(key);
    this.#sent.send(key, command, onAnswer);
  }

  #dropStock(): void {
    if (this.#stock) this.#drop(this.#stock);
  }

  /** Nobody has use for its page, nor for itself unless it is taken. */
  #drop(ahead: ContextAhead): void {
    const { contextId, sessionId, page, state } = ahead;
    this.#contexts.delete(ahead);
    this.#sent.drop((_, key) => ahead.keys.has(key));
    for (const each of ahead.sessions) this.#hidden.hide(each);
    if (contextId !== undefined && page === 'asked for' && sessionId === undefined) this.#hidden.hideContext(contextId);
    if (state === 'stock') {
      this.#stock = null;
      ahead.state = 'dropped';
      if (contextId !== undefined) this.#dispose(contextId);
    }
  }

  #dispose(browserContextId: string): void {
    this.#hidden.hideContext(browserContextId);
    const command = { method: 'Target.disposeBrowserContext', params: { browserContextId } };
    this.#sent.post(command, () => this.#hidden.forgetContext(browserContextId));
  }

  /** Whose page, or what came with it, the client has not been told of. */
  #holderOf(sessionId: string): ContextAhead | undefined {
    return this.#find(({ page, sessions }) => page !== 'shown' && sessions.has(sessionId));
  }

  #find(is: (ahead: ContextAhead) => boolean): ContextAhead | undefined {
    for (const ahead of this.#contexts) if (is(ahead)) return ahead;
    return undefined;
  }
}
