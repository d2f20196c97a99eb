import { randomUUID } from 'node:crypto';
import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import { within } from '../../../common/pause.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { SessionMap } from '../../model/per-session.ts';
import type { Session } from '../../model/session.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import { byLowerCase } from '../headers/header-list.ts';
import type { ProxiedTarget } from '../request/proxied-targets.ts';

/** What is sent, and how. */
interface Sending {
  /** The request is for a document: scripts cannot set its headers. */
  isNavigation: boolean;
  /** It was a POST before any redirect. */
  isPosted?: boolean;
  /** The client has disabled the target's cache, or the request bypasses it. */
  cacheDisabled?: boolean;
  /** Its document is being left: the browser adds no languages. */
  isLeft?: boolean;
}

/** A page's languages, requested from the page. */
interface Languages {
  /** The header's value; null from a page that is gone. */
  header: Promise<string | null>;
  /** A request has waited too long: later ones do not wait. */
  isLate: boolean;
}

type Headers = Record<string, string>;
type Sender = Pick<ProxiedTarget, 'session' | 'isDocument'>;

const createdWorld = v.looseObject({ executionContextId: v.pipe(v.number(), v.integer()) });
const evaluated = v.looseObject({ result: v.looseObject({ value: v.string() }) });

/** How long a request waits for its page's languages, in ms. An unresponsive page sends its requests without them. */
const LANGUAGES_MS = 1_000;
const LANGUAGE = 'accept-language';
const AGENT = 'user-agent';

/**
 * Adds headers that the browser sets only after pausing a request: `Accept-Language`, cache directives, and
 * `User-Agent` for worker scripts. `Sec-Fetch-*` is not added: servers rely on it for security.
 */
export class ImpliedHeaders {
  readonly #transport: InterceptorTransport;
  /** Name of our worlds, which are hidden from the client. */
  readonly #worldName = randomUUID();
  /** By session. */
  readonly #languages: SessionMap<string, Languages>;
  /** What the last page of a context sent: its workers send the same. */
  readonly #byContext = new Map<string | undefined, Headers>();

  constructor(transport: InterceptorTransport) {
    this.#transport = transport;
    this.#languages = new SessionMap(transport.model);
    transport.model.onSessionEnd(({ target: { contextId } }) => {
      if (transport.model.sessionsIn(String(contextId)).length <= 1) this.#byContext.delete(contextId);
    });
  }

  /** Asks a new page for its languages. A page that is navigating responds only when the navigation is over. */
  prepare(session: Session): void {
    const header = this.#evaluate(session).then(
      (languages) => (languages ? withWeights(languages.split(',')) : null),
      () => null,
    );
    this.#languages.set(session.id, { header, isLate: false }, session.id);
  }

  async complete(headers: Headers, { session, isDocument }: Sender, sending: Sending): Promise<Headers> {
    const own = isDocument ? await this.#ofDocument(headers, session, sending) : this.#ofWorker(headers, session);
    return { ...caching(sending), ...own };
  }

  /** The script of a worker that a page starts has neither header. */
  #ofWorker(headers: Headers, { target }: Session): Headers {
    const agent = this.#byContext.get(target.contextId)?.[AGENT];
    return { ...(agent && { [AGENT]: agent }), ...byLowerCase(headers) };
  }

  async #ofDocument(headers: Headers, { id, target }: Session, { isNavigation, isLeft }: Sending): Promise<Headers> {
    const given = byLowerCase(headers);
    const known = this.#byContext.get(target.contextId) ?? {};
    // A page that navigates at once cannot respond before the navigation ends, but its navigation request has the
    // languages. In any other request, a script has set the header, and other requests do not have it.
    const said = isNavigation ? given[LANGUAGE] : undefined;
    const language = said ?? (await this.#languagesOf(id)) ?? known[LANGUAGE];
    const agent = given[AGENT] ?? known[AGENT];
    const implied = { ...(language && { [LANGUAGE]: language }), ...(agent && { [AGENT]: agent }) };
    this.#byContext.set(target.contextId, implied);
    return isLeft ? { ...(agent && { [AGENT]: agent }), ...given } : { ...implied, ...given };
  }

  /** Whether an event is about one of our worlds: in a browser without a proxy, the client gets no such event. */
  isOfOwnWorld({ method, params, sessionId }: CdpMessage): boolean {
    const { context } = fieldsOf<Protocol.Runtime.ExecutionContextCreatedEvent>(params);
    const { executionContextId } = fieldsOf<Protocol.Runtime.ExecutionContextDestroyedEvent>(params);
    const isCreated = method === 'Runtime.executionContextCreated';
    if (!isCreated && method !== 'Runtime.executionContextDestroyed') return false;
    const id = isCreated ? fieldsOf<Protocol.Runtime.ExecutionContextDescription>(context).id : executionContextId;
    return this.#transport.model.session(sessionId)?.worlds.get(id as number)?.name === this.#worldName;
  }

  /** The limit starts with the first request, not with the page: on a busy machine a page starts slowly. */
  async #languagesOf(sessionId: string): Promise<string | null> {
    const asked = this.#languages.get(sessionId);
    if (!asked) return null;
    const languages = await within(asked.header, asked.isLate ? 0 : LANGUAGES_MS, null);
    asked.isLate = languages === null;
    return languages;
  }

  /** In a separate world: a page that opened this one may have changed the languages in its main world. */
  async #evaluate({ id: sessionId, target }: Session): Promise<string> {
    const params = { frameId: target.id, worldName: this.#worldName };
    const world = await this.#transport.call('Page.createIsolatedWorld', params, sessionId);
    const { executionContextId: contextId } = v.parse(createdWorld, world);
    const expression = 'navigator.languages.join()';
    const result = await this.#transport.call(
      'Runtime.evaluate',
      { expression, contextId, returnByValue: true },
      sessionId,
    );
    return v.parse(evaluated, result).result.value;
  }
}

/** The cache directives that the browser sends. */
function caching({ cacheDisabled, isNavigation, isPosted }: Sending): Headers {
  if (cacheDisabled) return { pragma: 'no-cache', 'cache-control': 'no-cache' };
  return isNavigation && isPosted ? { 'cache-control': 'max-age=0' } : {};
}

/** With Chromium's weights: `de-DE,de;q=0.9,en-US;q=0.8`. */
function withWeights(languages: string[]): string {
  const weight = (index: number) => Math.max(1, 10 - index) / 10;
  return languages.map((language, index) => (index === 0 ? language : `${language};q=${weight(index)}`)).join(',');
}
