import type { CdpMessage } from '../transport/message.ts';
import type { OwnCommands } from '../transport/own-commands.ts';
import { BridgeCredentials } from './bridge-credentials.ts';
import {
  type BridgeAnswer,
  BridgeFetcher,
  type BridgeOutcome,
  type BridgeRequest,
  MAX_BODY_BYTES,
} from './bridge-fetch.ts';
import { BridgedDocuments } from './bridged-documents.ts';
import type { BridgedHosts } from './bridged-hosts.ts';
import { BridgedSessions } from './bridged-sessions.ts';
import { ExtraInfo } from './headers/extra-info.ts';
import { ImpliedHeaders } from './headers/implied-headers.ts';
import { PageHeaders } from './headers/page-headers.ts';
import { LargeAnswers } from './large-answers/large-answers.ts';
import {
  answerTo,
  type ContinueFields,
  type PausedRequest,
  pausedRequest,
  requestBody,
  requestHeaders,
} from './paused-request.ts';
import { BridgedWebSockets } from './web-sockets/bridged-web-sockets.ts';

/**
 * Carries requests of pages to listed hosts through this machine. The browser stops them (CDP's Fetch domain), this
 * machine makes them, and the browser is handed the answer. Playwright's own use of that domain, for routes, goes first
 * and knows nothing of this: only what it lets go on to the network is carried. Each redirect is a request of its own
 * that is judged anew. Where Playwright stops no requests, the browser stops those to listed hosts and no others.
 */
export class NetworkBridge {
  readonly #hosts: BridgedHosts;
  readonly #commands: OwnCommands;
  readonly #fetcher: BridgeFetcher;
  readonly #pass: (message: CdpMessage) => void;
  readonly #sessions: BridgedSessions;
  readonly #documents: BridgedDocuments;
  readonly #pageHeaders = new PageHeaders();
  /** Requests that Playwright has stopped, by session and ID. */
  readonly #withPlaywright = new Map<string, PausedRequest>();
  /** Requests that are being made, by network ID. */
  readonly #underWay = new Map<unknown, { sessionId: string; abort: AbortController }>();
  readonly #credentials: BridgeCredentials;
  readonly #extraInfo: ExtraInfo;
  readonly #webSockets: BridgedWebSockets;
  readonly #largeAnswers: LargeAnswers;
  readonly #implied: ImpliedHeaders;
  #carriedBytes = 0;

  /** @param pass hands Playwright a message as if it came from the browser */
  constructor(hosts: BridgedHosts, commands: OwnCommands, pass: (message: CdpMessage) => void) {
    this.#hosts = hosts;
    this.#commands = commands;
    this.#pass = pass;
    const count = (bytes: number) => {
      this.#carriedBytes += bytes;
    };
    this.#fetcher = new BridgeFetcher(count);
    this.#credentials = new BridgeCredentials(pass);
    this.#extraInfo = new ExtraInfo(pass);
    this.#implied = new ImpliedHeaders(commands);
    this.#sessions = new BridgedSessions((sessionId, { isDocument, targetId }) => {
      commands.post('Fetch.enable', this.#ownPatterns(), sessionId);
      if (!isDocument) return;
      this.#webSockets.prepare(sessionId);
      this.#largeAnswers.prepare(sessionId);
      this.#implied.prepare(sessionId, targetId);
    });
    this.#documents = new BridgedDocuments(hosts, (document) => {
      this.#webSockets.leave(document);
      this.#largeAnswers.leave(document);
    });
    this.#webSockets = new BridgedWebSockets(hosts, commands, this.#sessions, this.#documents, pass, count);
    this.#largeAnswers = new LargeAnswers(hosts, this.#documents, commands);
  }

  /** Bytes of bodies and WebSocket messages so far, both ways, decoded. */
  get carriedBytes(): number {
    return this.#carriedBytes;
  }

  /** Whether a message of the browser is that a download begins which this carries: the browser moves nothing for it. */
  carriesDownload({ method, params = {} }: CdpMessage): boolean {
    if (method !== 'Browser.downloadWillBegin' || !('url' in params)) return false;
    return typeof params.url === 'string' && this.#hosts.matches(params.url);
  }

  /** Whether a message of the browser is about a request that Playwright does not know to be stopped. */
  takes(message: CdpMessage): boolean {
    const { method, sessionId, params = {} } = message;
    if (method === 'Target.detachedFromTarget') this.#forget(params);
    if (method?.startsWith('Target.')) this.#sessions.observe(message);
    if (sessionId === undefined) return false;
    const session = this.#sessions.get(sessionId);
    if (session) this.#documents.observe(message);
    this.#pageHeaders.observe(message);
    // A page that cancels a request, or is left.
    if (method === 'Network.loadingFailed' && 'requestId' in params)
      this.#underWay.get(params.requestId)?.abort.abort();
    this.#extraInfo.correct(message);
    if (this.#webSockets.takes(message) || this.#largeAnswers.takes(message)) return true;
    if (method !== 'Fetch.requestPaused' || !session) return false;
    const paused = pausedRequest(sessionId, params);
    if (!paused) return false;
    if (session.playwrightIntercepts) {
      this.#withPlaywright.set(key(sessionId, paused.requestId), paused);
      return false;
    }
    if (this.#hosts.matches(paused.url)) void this.#carry(paused, {});
    else this.#commands.post('Fetch.continueRequest', { requestId: paused.requestId }, sessionId);
    return true;
  }

  /** The command to send in place of Playwright's; null when there is none to send, because it is answered here. */
  redirect(command: CdpMessage): CdpMessage | null {
    const { id, method, sessionId, params = {} } = command;
    if (sessionId === undefined || method === undefined) return command;
    this.#sessions.sent(command);
    if (this.#credentials.takes(command)) return null;
    if (method === 'Fetch.disable' && this.#sessions.get(sessionId)) {
      return { ...command, method: 'Fetch.enable', params: this.#ownPatterns() };
    }
    if (!ANSWERS.has(method)) return command;
    const fields: ContinueFields = params;
    const known = key(sessionId, fields.requestId);
    const paused = this.#withPlaywright.get(known);
    this.#withPlaywright.delete(known);
    if (!paused || method !== 'Fetch.continueRequest') return command;
    if (!this.#hosts.matches(typeof fields.url === 'string' ? fields.url : paused.url)) return command;
    void this.#carry(paused, fields);
    // Playwright looks for the answer after this call.
    setImmediate(() => this.#pass({ id, sessionId, result: {} }));
    return null;
  }

  /** The link is down. */
  end(): void {
    for (const { abort } of this.#underWay.values()) abort.abort();
    this.#documents.leave();
    this.#fetcher.close();
  }

  #ownPatterns(): object {
    return { patterns: this.#hosts.urlPatterns.map((urlPattern) => ({ urlPattern, requestStage: 'Request' })) };
  }

  /** Never rejects: a request that is gone meanwhile needs no answer. */
  async #carry(paused: PausedRequest, changes: ContinueFields): Promise<void> {
    const { sessionId, requestId, networkId = requestId } = paused;
    const abort = new AbortController();
    this.#underWay.set(networkId, { sessionId, abort });
    try {
      const headers = await this.#headers(paused, changes);
      const request = {
        url: typeof changes.url === 'string' ? changes.url : paused.url,
        method: typeof changes.method === 'string' ? changes.method : paused.method,
        headers,
        body: await requestBody(this.#commands, paused, changes),
        signal: abort.signal,
      };
      let outcome = await this.#outcome(sessionId, request);
      for (let tries = 0; tries < MAX_CREDENTIALS && this.#sessions.get(sessionId)?.playwrightIntercepts; tries += 1) {
        const authorization = await this.#credentials.answer(paused, outcome);
        if (authorization === null) break;
        outcome = await this.#outcome(sessionId, { ...request, headers: { ...headers, authorization } });
      }
      if (!('failure' in outcome) && outcome.rest) outcome = await this.#inPieces(paused, outcome, abort);
      if (abort.signal.aborted) return;
      this.#extraInfo.tell(paused, headers, outcome);
      this.#explain(sessionId, request.url, outcome);
      const [method, params] = answerTo(requestId, outcome);
      await this.#commands.call(method, params, sessionId);
    } catch {
      // Its page is gone, or its link; if it is not, it must not wait for ever.
      this.#commands.post('Fetch.failRequest', { requestId, errorReason: 'Failed' }, sessionId);
    } finally {
      if (this.#underWay.get(networkId)?.abort === abort) this.#underWay.delete(networkId);
    }
  }

  /** The headers to send, with those that the browser would have added. */
  async #headers(paused: PausedRequest, changes: ContinueFields): Promise<Record<string, string>> {
    const { sessionId, networkId } = paused;
    if (!changes.headers) await this.#pageHeaders.settled(networkId, paused.headers);
    const headers = requestHeaders(paused, changes, this.#pageHeaders);
    const session = this.#sessions.get(sessionId);
    if (!session) return headers;
    return await this.#implied.complete(headers, { sessionId, ...session, isNavigation: paused.isNavigation });
  }

  async #outcome(sessionId: string, request: Omit<BridgeRequest, 'ignoreHTTPSErrors'>): Promise<BridgeOutcome> {
    const { offline = false, ignoreHTTPSErrors = false } = this.#sessions.get(sessionId) ?? {};
    if (offline) return { failure: 'InternetDisconnected', detail: 'the page is offline' };
    return await this.#fetcher.fetch({ ...request, ignoreHTTPSErrors });
  }

  /** An answer that is too large to be handed to the browser goes to the script that asked for it, if one did. */
  async #inPieces(paused: PausedRequest, answer: BridgeAnswer, abort: AbortController): Promise<BridgeOutcome> {
    if (await this.#largeAnswers.offer(paused, answer, abort)) return { ...answer, body: Buffer.alloc(0) };
    answer.rest?.cancel();
    const most = `${MAX_BODY_BYTES / 1024 ** 2} MB`;
    const detail = `the answer is larger than ${most}, and only fetch() and XMLHttpRequest of a page can take such a one`;
    return { failure: 'Failed', detail };
  }

  /** What the page will call `net::ERR_FAILED` stands in its console with its reason. */
  #explain(sessionId: string, url: string, outcome: BridgeOutcome): void {
    if (!('failure' in outcome) || outcome.failure !== 'Failed') return;
    const text = `poolwright: ${new URL(url).host} was reached through the test machine, but ${outcome.detail}`;
    const entry = { source: 'network', level: 'error', text, url, timestamp: Date.now() };
    this.#pass({ sessionId, method: 'Log.entryAdded', params: { entry } });
  }

  /** What a closed page had under way. */
  #forget({ sessionId: gone }: { sessionId?: unknown }): void {
    this.#documents.leave(gone);
    this.#pageHeaders.forget(gone);
    this.#implied.forget(String(gone));
    for (const { sessionId, abort } of this.#underWay.values()) if (sessionId === gone) abort.abort();
    for (const [known, { sessionId }] of this.#withPlaywright) {
      if (sessionId === gone) this.#withPlaywright.delete(known);
    }
  }
}

/** How often one request is tried with credentials. Playwright gives them once. */
const MAX_CREDENTIALS = 2;
/** Commands that let a stopped request go. */
const ANSWERS = new Set(['Fetch.continueRequest', 'Fetch.fulfillRequest', 'Fetch.failRequest']);

function key(sessionId: string, id: unknown): string {
  return `${sessionId} ${id}`;
}
