import { randomUUID } from 'node:crypto';
import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import { SessionMap } from '../../model/per-session.ts';
import type { InterceptorLink } from '../../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';

/** Where a request comes from. */
interface Sender {
  sessionId: string;
  /** Of its browser context. */
  contextId: string;
  /** A page or a frame; else a worker. */
  isDocument: boolean;
  /** The request is for a document: no script has given it headers. */
  isNavigation: boolean;
  /** Before any redirect it was a POST. */
  isPosted?: boolean;
  /** The client has switched its cache off, or the request passes it by. */
  cacheDisabled?: boolean;
}

/** What a page was asked. */
interface Languages {
  /** As the header says them; null from a page that is gone. */
  answer: Promise<string | null>;
  /** A request has waited in vain: the next ones do not. */
  isLate: boolean;
}

type Headers = Record<string, string>;

const createdWorld = v.looseObject({ executionContextId: v.pipe(v.number(), v.integer()) });
const evaluated = v.looseObject({ result: v.looseObject({ value: v.string() }) });

/** How long a request waits for its page's languages, in ms. A page that does not answer sends its requests without. */
const ANSWER_MS = 1_000;
const LANGUAGE = 'accept-language';
const AGENT = 'user-agent';

/**
 * Headers that the browser adds after it has stopped a request, so that a carried one would be without: the languages,
 * what it says of its cache, and of a worker's script the user agent too. Not made up: `Sec-Fetch-*`, which servers
 * take for a promise.
 */
export class ImpliedHeaders {
  readonly #link: InterceptorLink;
  /** Of our worlds, which are hidden from the client. */
  readonly #worldName = randomUUID();
  /** By session. */
  readonly #languages: SessionMap<string, Languages>;
  /** What the last page of a context sent: its workers send the same. */
  readonly #byContext = new Map<string, Headers>();

  constructor(link: InterceptorLink) {
    this.#link = link;
    this.#languages = new SessionMap(link.model);
    link.model.onSessionEnd(({ target: { contextId = '' } }) => {
      if (link.model.sessionsIn(contextId).length === 1) this.#byContext.delete(contextId);
    });
  }

  /** Asks a new page for its languages. Once it is on its way somewhere, it answers only when it has arrived. */
  prepare(sessionId: string, frameId: string): void {
    const answer = this.#evaluate(sessionId, frameId).then(
      (languages) => (languages ? withWeights(languages.split(',')) : null),
      () => null,
    );
    this.#languages.set(sessionId, { answer, isLate: false }, sessionId);
  }

  async complete(headers: Headers, sender: Sender): Promise<Headers> {
    return { ...caching(sender), ...(await this.#complete(headers, sender)) };
  }

  async #complete(headers: Headers, { sessionId, contextId, isDocument, isNavigation }: Sender): Promise<Headers> {
    const given = lowerCase(headers);
    const known = this.#byContext.get(contextId) ?? {};
    if (!isDocument) return { ...(known[AGENT] && { [AGENT]: known[AGENT] }), ...given };
    // A page that is led somewhere at once cannot answer before it has arrived, but its navigation says the languages.
    // Any other request that says some was given them by a script, and no other request has them.
    const said = isNavigation ? given[LANGUAGE] : undefined;
    const language = said ?? (await this.#languagesOf(sessionId)) ?? known[LANGUAGE];
    const agent = given[AGENT] ?? known[AGENT];
    this.#byContext.set(contextId, { ...(language && { [LANGUAGE]: language }), ...(agent && { [AGENT]: agent }) });
    // The script of a worker that a page starts comes without.
    return { ...(language && { [LANGUAGE]: language }), ...(agent && { [AGENT]: agent }), ...given };
  }

  /** Whether an event is about a world of ours: the client has none of these in a browser without a bridge. */
  isOfOwnWorld({ method, params, sessionId }: CdpMessage): boolean {
    const { context } = fieldsOf<Protocol.Runtime.ExecutionContextCreatedEvent>(params);
    const { executionContextId } = fieldsOf<Protocol.Runtime.ExecutionContextDestroyedEvent>(params);
    const isCreated = method === 'Runtime.executionContextCreated';
    if (!isCreated && method !== 'Runtime.executionContextDestroyed') return false;
    const id = isCreated ? fieldsOf<Protocol.Runtime.ExecutionContextDescription>(context).id : executionContextId;
    return this.#link.model.session(sessionId)?.worlds.get(id as number)?.name === this.#worldName;
  }

  /** Waits from the first request on, not from the page's creation: on a busy machine a page takes its time to start. */
  async #languagesOf(sessionId: string): Promise<string | null> {
    const asked = this.#languages.get(sessionId);
    if (!asked) return null;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, asked.isLate ? 0 : ANSWER_MS, null);
    });
    const languages = await Promise.race([asked.answer, late]).finally(() => clearTimeout(timer));
    asked.isLate = languages === null;
    return languages;
  }

  /** In a world of its own: who opened the page may have put other languages into the page's. */
  async #evaluate(sessionId: string, frameId: string): Promise<string> {
    const params = { frameId, worldName: this.#worldName };
    const world = await this.#link.call('Page.createIsolatedWorld', params, sessionId);
    const { executionContextId: contextId } = v.parse(createdWorld, world);
    const expression = 'navigator.languages.join()';
    const answer = await this.#link.call('Runtime.evaluate', { expression, contextId, returnByValue: true }, sessionId);
    return v.parse(evaluated, answer).result.value;
  }
}

/** What the browser says of its cache to those between it and the server. */
function caching({ cacheDisabled, isNavigation, isPosted }: Sender): Headers {
  if (cacheDisabled) return { pragma: 'no-cache', 'cache-control': 'no-cache' };
  return isNavigation && isPosted ? { 'cache-control': 'max-age=0' } : {};
}

function lowerCase(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** As Chromium weighs them: `de-DE,de;q=0.9,en-US;q=0.8`. */
function withWeights(languages: string[]): string {
  const weight = (index: number) => Math.max(1, 10 - index) / 10;
  return languages.map((language, index) => (index === 0 ? language : `${language};q=${weight(index)}`)).join(',');
}
