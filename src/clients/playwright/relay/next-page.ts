import type { MessageOutput } from './early-close.ts';
import { createdBy, guidIn, includesAny, type PlaywrightMessage, readMessage } from './playwright-message.ts';

/** IDs of calls that are made here begin like this. */
const OWN = 'poolwright-page@';
/** Calls to a context that have the same effect before and after its first page is created. */
const HARMLESS = new Set(['updateSubscription', 'setDefaultTimeoutNoReply', 'setDefaultNavigationTimeoutNoReply']);

/** A page that no test has requested yet. */
interface Prepared {
  context: string;
  /** The call that creates it. */
  id: string;
  /** Its objects. */
  objects: Set<string>;
  /** What the server said about them, in order. */
  held: string[];
  /** The response; null while it is pending. */
  response: PlaywrightMessage | null;
  /** The client's call that gets this page once it is created. */
  taker: PlaywrightMessage | null;
  /** Whether the client will never have it. */
  isDropped: boolean;
}

/**
 * Creates the first page of a prepared context. The client does not see it before it requests one; it then gets all
 * messages about it, and the response, at once. If the client changes the context first (an init script, a binding, a
 * clock), the page would have been created too early: it is closed before the change, and no further one is prepared.
 */
export class NextPage {
  readonly #output: MessageOutput;
  /** Whether pages have separate windows: a hidden one could be noticed by the current page. */
  readonly #haveWindows: () => boolean;
  /** The last `newPage` of the client. */
  #last: PlaywrightMessage | null = null;
  #page: Prepared | null = null;
  /** What the client has sent since a call that has to wait for the page. */
  #blocked: string[] | null = null;
  #isUseful = true;
  #calls = 0;

  constructor(output: MessageOutput, haveWindows: () => boolean) {
    this.#output = output;
    this.#haveWindows = haveWindows;
  }

  /** Creates a page in a context that the client does not have yet. */
  prepare(context: string): void {
    if (!this.#last || this.#page || !this.#isUseful || this.#haveWindows()) return;
    const id = this.#nextId();
    this.#page = { context, id, objects: new Set(), held: [], response: null, taker: null, isDropped: false };
    this.#output.toServer(JSON.stringify({ ...this.#last, id, guid: context }));
  }

  fromClient(text: string): void {
    const page = this.#page;
    const isRead = text.includes('"newPage"') || (page && text.includes(page.context));
    const message = isRead ? readMessage(text) : null;
    if (this.#blocked) this.#blocked.push(text);
    else if (message && page && message.guid === page.context && !page.isDropped) this.#called(page, message, text);
    else this.#output.toServer(text);
    if (message?.method === 'newPage') this.#last = message;
  }

  fromServer(text: string): void {
    const page = this.#page;
    const message = page && readMessage(text);
    if (!page || !message) this.#output.toClient(text);
    else if (message.id === page.id) this.#created(page, message);
    else if (String(message.id).startsWith(OWN)) this.#flush();
    else if (!isOf(page, message, text)) this.#pass(page, message, text);
    else if (!page.isDropped) page.held.push(text);
  }

  #called(page: Prepared, message: PlaywrightMessage, text: string): void {
    const { method = '', params } = message;
    if (method === 'newPage' && !page.taker && JSON.stringify(params) === JSON.stringify(this.#last?.params)) {
      page.taker = message;
      this.#settle(page);
      return;
    }
    if (method !== 'close' && !HARMLESS.has(method)) {
      this.#blocked = [text];
      this.#settle(page);
      return;
    }
    // It is closed with its context.
    if (method === 'close' && !page.taker) page.isDropped = true;
    this.#output.toServer(text);
  }

  #created(page: Prepared, response: PlaywrightMessage): void {
    page.response = response;
    // A reason why it failed concerns only a call of the client, which gets its own.
    if (guidIn(response, 'page') === null) this.#page = null;
    this.#settle(page);
  }

  /** Gives the page to the client, or closes it, once it is created. */
  #settle(page: Prepared): void {
    const { response, taker, held, isDropped } = page;
    if (!response || isDropped) return;
    const guid = guidIn(response, 'page');
    if (taker && guid === null) {
      this.#output.toServer(JSON.stringify(taker));
    } else if (taker) {
      this.#page = null;
      for (const text of held) this.#output.toClient(text);
      this.#output.toClient(JSON.stringify({ ...response, id: taker.id }));
    } else if (guid !== null && this.#blocked) {
      page.isDropped = true;
      this.#isUseful = false;
      this.#output.toServer(JSON.stringify({ ...this.#last, id: this.#nextId(), guid, method: 'close', params: {} }));
      return;
    }
    if (taker || guid === null) this.#flush();
  }

  #flush(): void {
    const blocked = this.#blocked ?? [];
    this.#blocked = null;
    for (const text of blocked) this.fromClient(text);
  }

  #pass({ context }: Prepared, { guid, method }: PlaywrightMessage, text: string): void {
    if (method === '__dispose__' && guid === context) this.#page = null;
    this.#output.toClient(text);
  }

  #nextId(): string {
    this.#calls += 1;
    return `${OWN}${this.#calls}`;
  }
}

function isOf({ context, objects, response }: Prepared, message: PlaywrightMessage, text: string): boolean {
  const object = createdBy(message);
  const isNew = message.guid === context && !response && /^(Page|Frame)$/.test(object?.type ?? '');
  if (!isNew && !includesAny(text, objects)) return false;
  if (object) objects.add(object.guid);
  return true;
}
