import type { Protocol } from 'devtools-protocol';
import { setImmediate } from '../../../common/clock.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { commandKey } from '../pipelined-commands.ts';
import { PageSetUp, type Role, type Step, type Trigger } from './page-set-up.ts';

/** A command that is sent before Puppeteer sends it. */
interface Expected {
  readonly key: string;
  readonly sentAt: number;
  /** The step that it is; null for the command that creates the page. */
  readonly step: number | null;
  /** Puppeteer's own command, once it has sent it. */
  asked?: CdpMessage;
}

/** What a page needs from its interceptor. */
export interface PageEnds {
  send(command: CdpMessage): number;
  deliver(message: CdpMessage): void;
  now(): number;
  /** Puppeteer has got everything: the page is one like all others. */
  onShown(): void;
  /** Puppeteer sets the page up in another way. */
  onDeviation(): void;
}

/**
 * A page that is created and set up before Puppeteer asks for it. All messages about it are held back in their order.
 * Puppeteer gets them one by one, and each response only when it has sent the command: it sees exactly what it would
 * see of a fast browser.
 */
export class PreparedPage {
  readonly #contextId: string;
  readonly #ends: PageEnds;
  readonly #expected = new Map<number, Expected>();
  /** Steps whose trigger has not come yet. */
  readonly #steps: Map<number, Step>;
  readonly #stream: CdpMessage[] = [];
  readonly #targets: Partial<Record<Role, string>> = {};
  readonly #sessions: Partial<Record<Role, string>> = {};
  /** Responses to Puppeteer's commands that must not overtake what is held back. */
  readonly #queued = new Set<number>();
  /** Commands whose responses Puppeteer does not get. */
  readonly #unasked = new Set<number>();
  #isShown = false;
  #isPumping = false;

  constructor(contextId: string, create: CdpMessage, steps: readonly Step[], ends: PageEnds) {
    this.#contextId = contextId;
    this.#ends = ends;
    this.#steps = new Map(steps.entries());
    this.#send(create, null);
  }

  /** The page's ID, once it is known. */
  get targetId(): string | undefined {
    return this.#targets.page;
  }

  /** How many messages are held back. */
  get length(): number {
    return this.#stream.length;
  }

  isTab(targetId: unknown): boolean {
    return targetId === this.#targets.tab;
  }

  hasSession(sessionId: string): boolean {
    return sessionId === this.#sessions.tab || sessionId === this.#sessions.page;
  }

  /** Whether a message is about this page. The first tab and the first page of the context are the prepared ones. */
  claims({ id, method = '', params, sessionId }: CdpMessage): boolean {
    if (id !== undefined && [this.#expected, this.#queued, this.#unasked].some((ids) => ids.has(id))) return true;
    if (sessionId !== undefined) return this.hasSession(sessionId);
    if (id !== undefined || !method.startsWith('Target.')) return false;
    const event = fieldsOf<Protocol.Target.AttachedToTargetEvent & Protocol.Target.TargetDestroyedEvent>(params);
    const info = fieldsOf<Protocol.Target.TargetInfo>(event.targetInfo);
    const { targetId = event.targetId, type, browserContextId } = info;
    if (targetId === undefined) return false;
    if (targetId === this.#targets.tab || targetId === this.#targets.page) return true;
    if (browserContextId !== this.#contextId || (type !== 'tab' && type !== 'page')) return false;
    if (this.#targets[type] !== undefined) return false;
    this.#targets[type] = String(targetId);
    return true;
  }

  /** Takes a message about it from the browser. */
  take(message: CdpMessage): void {
    this.#stream.push(message);
    const { id, method, params } = message;
    const expected = id === undefined ? undefined : this.#expected.get(id);
    if (expected && expected.step !== null) this.#advance(expected.step);
    if (method === 'Target.attachedToTarget') {
      const { sessionId, targetInfo } = fieldsOf<Protocol.Target.AttachedToTargetEvent>(params);
      const { type } = fieldsOf<Protocol.Target.TargetInfo>(targetInfo);
      if (type === 'tab' || type === 'page') {
        this.#sessions[type] = String(sessionId);
        this.#advance(type);
      }
    }
    this.#pump();
  }

  /** Puppeteer creates its page: it gets this one. */
  show(): void {
    this.#isShown = true;
  }

  /** Puppeteer sends a command. Returns when it was sent before; null if it was not, and has to be sent now. */
  ask(command: CdpMessage): { sentAt: number } | null {
    const key = commandKey(command);
    for (const expected of this.#expected.values()) {
      if (expected.asked || expected.key !== key) continue;
      expected.asked = command;
      this.#pump();
      return expected;
    }
    for (const [index, step] of this.#steps) {
      if (commandKey(this.#command(step)) !== key) continue;
      this.#steps.delete(index);
      return null;
    }
    if (this.#abandon()) this.#ends.onDeviation();
    return null;
  }

  /** Puppeteer's command ends the page: its response follows what is held back. */
  queueResponse({ id }: CdpMessage): void {
    this.#abandon();
    if (id !== undefined) this.#queued.add(id);
  }

  /**
   * Puppeteer does not follow the steps: it gets no response to what it has not asked. Returns whether there is any
   * such command.
   */
  #abandon(): boolean {
    const before = this.#steps.size + this.#expected.size;
    this.#steps.clear();
    for (const [id, { asked }] of this.#expected) {
      if (asked) continue;
      this.#expected.delete(id);
      this.#unasked.add(id);
    }
    this.#pump();
    return this.#steps.size + this.#expected.size < before;
  }

  #advance(trigger: Trigger): void {
    for (const [index, step] of this.#steps) {
      if (step.after !== trigger) continue;
      this.#steps.delete(index);
      this.#send(this.#command(step), index);
    }
  }

  #command(step: Step): CdpMessage {
    return PageSetUp.command(step, this.#sessions[step.role] ?? '', this.#targets.page ?? '');
  }

  #send(command: CdpMessage, step: number | null): void {
    this.#expected.set(this.#ends.send(command), { key: commandKey(command), sentAt: this.#ends.now(), step });
  }

  /** Delivers one message, in a separate task. */
  #pump(): void {
    if (!this.#isShown || this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      this.#deliverNext();
    });
  }

  #deliverNext(): void {
    const [next] = this.#stream;
    const expected = next?.id === undefined ? undefined : this.#expected.get(next.id);
    // Puppeteer has not asked yet.
    if (expected && !expected.asked) return;
    this.#stream.shift();
    const { id = 0 } = next ?? {};
    this.#expected.delete(id);
    this.#queued.delete(id);
    const isForPuppeteer = !this.#unasked.delete(id);
    if (next && isForPuppeteer) this.#ends.deliver(expected ? { ...next, id: expected.asked?.id ?? 0 } : next);
    if (this.#stream.length > 0) this.#pump();
    else if ([this.#expected, this.#steps, this.#queued, this.#unasked].every(({ size }) => size === 0)) {
      this.#ends.onShown();
    }
  }
}
