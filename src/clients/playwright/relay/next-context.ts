import { type MessageOutput, RECORDINGS } from './early-close.ts';
import { createdBy, guidIn, includesAny, type PlaywrightMessage, readMessage } from './playwright-message.ts';

/** IDs of calls that are made here begin like this. */
const OWN = 'poolwright@';
/** Objects that the browser has besides those of its contexts. */
const OTHERS = new Set(['CDPSession', 'Artifact']);

/** A context that no test has requested yet. */
interface Prepared {
  /** The call that creates it. */
  id: string;
  options: string;
  /** Its objects. */
  objects: Set<string>;
  /** What the server said about them, in order. */
  held: string[];
  /** The response; null while it is pending. */
  response: PlaywrightMessage | null;
}

/**
 * Creates the next test's context while a test runs. The client does not see it before it requests a context with
 * exactly the same options; it then gets all messages about it, and the response, at once. With other options, it is
 * closed. Only one context is being created at a time while one is prepared: messages do not tell for which call an
 * object is.
 */
export class NextContext {
  readonly #output: MessageOutput;
  readonly #onPrepared: (context: string) => void;
  /** The last `newContext` of the client. */
  #last: PlaywrightMessage | null = null;
  /** Such calls that have no response yet. */
  readonly #open = new Set<string | number | undefined>();
  /** Such calls that came while a context was being prepared. */
  #waiting: PlaywrightMessage[] = [];
  #prepared: Prepared | null = null;
  /** Objects of contexts that were closed unused. */
  readonly #discarded = new Set<string>();
  #calls = 0;

  /** @param onPrepared called with a context that is ready for the client, and records nothing */
  constructor(output: MessageOutput, onPrepared: (context: string) => void) {
    this.#output = output;
    this.#onPrepared = onPrepared;
  }

  fromClient(text: string): void {
    const message = text.includes('"newContext"') ? readMessage(text) : null;
    if (message?.method !== 'newContext') this.#output.toServer(text);
    else if (this.#prepared && !this.#prepared.response) this.#waiting.push(message);
    else this.#request(message);
  }

  fromServer(text: string): void {
    const message = readMessage(text);
    const prepared = this.#prepared;
    if (!message) this.#output.toClient(text);
    else if (prepared && message.id === prepared.id) this.#created(prepared, message);
    else if (String(message.id).startsWith(OWN) || this.#isDiscarded(message, text)) return;
    else if (prepared && this.#isOf(prepared, message, text)) prepared.held.push(text);
    else this.#pass(message, text);
  }

  #pass(message: PlaywrightMessage, text: string): void {
    this.#open.delete(message.id);
    this.#output.toClient(text);
    // The first page of a test: its context is open, and the relay has time.
    if (createdBy(message)?.type === 'Page') this.#prepare();
  }

  #request(message: PlaywrightMessage): void {
    this.#last = message;
    const prepared = this.#prepared;
    this.#prepared = null;
    if (prepared?.response && prepared.options === JSON.stringify(message.params)) {
      for (const text of prepared.held) this.#output.toClient(text);
      this.#output.toClient(JSON.stringify({ ...prepared.response, id: message.id }));
      return;
    }
    if (prepared) this.#discard(prepared);
    this.#open.add(message.id);
    this.#output.toServer(JSON.stringify(message));
  }

  #prepare(): void {
    if (!this.#last || this.#prepared || this.#open.size > 0) return;
    const options = JSON.stringify(this.#last.params);
    this.#prepared = { id: this.#nextId(), options, objects: new Set(), held: [], response: null };
    this.#output.toServer(JSON.stringify({ ...this.#last, id: this.#prepared.id }));
  }

  #created(prepared: Prepared, response: PlaywrightMessage): void {
    prepared.response = response;
    const context = guidIn(response, 'context');
    // If this fails, so does the next one of the client, which gets the reason.
    if (context === null) this.#prepared = null;
    else if (!RECORDINGS.test(prepared.options)) this.#onPrepared(context);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const message of waiting) this.#request(message);
  }

  #isOf({ objects, response }: Prepared, message: PlaywrightMessage, text: string): boolean {
    const object = createdBy(message);
    const isNew = object && !response && message.guid === this.#last?.guid && !OTHERS.has(object.type);
    if (!isNew && !includesAny(text, objects)) return false;
    if (object) objects.add(object.guid);
    return true;
  }

  #isDiscarded({ guid = '', method }: PlaywrightMessage, text: string): boolean {
    if (!includesAny(text, this.#discarded)) return false;
    if (method === '__dispose__') this.#discarded.delete(guid);
    return true;
  }

  #discard({ objects, response }: Prepared): void {
    for (const object of objects) this.#discarded.add(object);
    const guid = response && guidIn(response, 'context');
    this.#output.toServer(JSON.stringify({ ...this.#last, id: this.#nextId(), guid, method: 'close', params: {} }));
  }

  #nextId(): string {
    this.#calls += 1;
    return `${OWN}${this.#calls}`;
  }
}
