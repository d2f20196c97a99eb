import type { Protocol } from 'devtools-protocol';
import type { Interceptor, InterceptorLink } from '../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../transport/message.ts';
import { BridgedDocuments } from './bridged-documents.ts';
import type { BridgedHosts } from './bridged-hosts.ts';
import { BridgedSessions } from './bridged-sessions.ts';
import { CarriedRequests } from './carried-requests.ts';
import { LargeAnswers } from './large-answers/large-answers.ts';
import { type ContinueFields, type PausedRequest, pausedRequest } from './paused-request.ts';
import { BridgedWebSockets } from './web-sockets/bridged-web-sockets.ts';

/** Commands that let a stopped request go. */
const ANSWERS = new Set(['Fetch.continueRequest', 'Fetch.fulfillRequest', 'Fetch.failRequest']);

/**
 * Carries requests of pages to listed hosts through this machine. The browser stops them (CDP's Fetch domain), this
 * machine makes them, and the browser is handed the answer. Playwright's own use of that domain, for routes, goes first
 * and knows nothing of this: only what it lets go on to the network is carried. Each redirect is a request of its own
 * that is judged anew. Where Playwright stops no requests, the browser stops those to listed hosts and no others.
 */
export class NetworkBridge implements Interceptor {
  readonly #link: InterceptorLink;
  readonly #hosts: BridgedHosts;
  readonly #sessions: BridgedSessions;
  readonly #documents: BridgedDocuments;
  readonly #requests: CarriedRequests;
  readonly #webSockets: BridgedWebSockets;
  readonly #largeAnswers: LargeAnswers;
  /** Requests that Playwright has stopped, by session and ID. */
  readonly #withPlaywright = new Map<string, PausedRequest>();

  /** @param onCarried told of the bytes of bodies and WebSocket messages, both ways and decoded */
  constructor(link: InterceptorLink, hosts: BridgedHosts, onCarried: (bytes: number) => void = () => undefined) {
    this.#link = link;
    this.#hosts = hosts;
    this.#sessions = new BridgedSessions((sessionId, { isDocument, targetId }) => {
      link.post('Fetch.enable', this.#ownPatterns(), sessionId);
      if (!isDocument) return;
      this.#webSockets.binding.prepare(sessionId);
      this.#largeAnswers.binding.prepare(sessionId);
      this.#requests.prepare(sessionId, targetId);
    });
    this.#documents = new BridgedDocuments(hosts, (document) => {
      this.#webSockets.leave(document);
      this.#largeAnswers.leave(document);
    });
    const parts = { hosts, sessions: this.#sessions, documents: this.#documents, onCarried };
    this.#webSockets = new BridgedWebSockets(link, parts);
    this.#largeAnswers = new LargeAnswers(link, parts);
    this.#requests = new CarriedRequests(link, { ...parts, largeAnswers: this.#largeAnswers });
  }

  onCommand(command: CdpMessage): CdpMessage | null {
    const { method, sessionId } = command;
    if (sessionId === undefined || method === undefined) return command;
    this.#sessions.observeCommand(command);
    if (this.#requests.onCommand(command) === null) return null;
    if (method === 'Fetch.disable' && this.#sessions.get(sessionId)) {
      return { ...command, method: 'Fetch.enable', params: this.#ownPatterns() };
    }
    return ANSWERS.has(method) ? this.#onAnswer(sessionId, command) : command;
  }

  onMessage(message: CdpMessage): CdpMessage | null {
    const { method, sessionId } = message;
    if (method?.startsWith('Target.')) this.#observeTargets(message);
    if (sessionId === undefined || method === undefined) return message;
    const session = this.#sessions.get(sessionId);
    if (session) this.#documents.observe(message);
    if (method.startsWith('Network.')) return this.#requests.onMessage(message);
    if (method === 'Runtime.bindingCalled') {
      return this.#webSockets.binding.onMessage(message) && this.#largeAnswers.binding.onMessage(message);
    }
    if (method !== 'Fetch.requestPaused' || !session) return message;
    const paused = pausedRequest(sessionId, message.params);
    if (!paused) return message;
    if (session.playwrightIntercepts) {
      this.#withPlaywright.set(key(sessionId, paused.requestId), paused);
      return message;
    }
    if (this.#hosts.matches(paused.url)) void this.#requests.carry(paused, {});
    else this.#link.post('Fetch.continueRequest', { requestId: paused.requestId }, sessionId);
    return null;
  }

  end(): void {
    this.#documents.leave();
    this.#requests.end();
  }

  /** Playwright lets a request go that it has stopped. */
  #onAnswer(sessionId: string, command: CdpMessage): CdpMessage | null {
    const fields: ContinueFields = fieldsOf(command.params);
    const known = key(sessionId, fields.requestId);
    const paused = this.#withPlaywright.get(known);
    this.#withPlaywright.delete(known);
    if (!paused || command.method !== 'Fetch.continueRequest') return command;
    if (!this.#hosts.matches(typeof fields.url === 'string' ? fields.url : paused.url)) return command;
    void this.#requests.carry(paused, fields);
    this.#link.deliver({ id: command.id, sessionId, result: {} });
    return null;
  }

  #observeTargets(message: CdpMessage): void {
    const { sessionId } = fieldsOf<Protocol.Target.DetachedFromTargetEvent>(message.params);
    if (typeof sessionId !== 'string') return;
    const contextId = this.#sessions.get(sessionId)?.contextId;
    this.#sessions.observe(message);
    if (message.method !== 'Target.detachedFromTarget') return;
    this.#documents.leave(sessionId);
    this.#requests.forget(sessionId);
    if (contextId !== undefined && !this.#sessions.hasAnyOf(contextId)) this.#requests.forgetContext(contextId);
    for (const [known, paused] of this.#withPlaywright) {
      if (paused.sessionId === sessionId) this.#withPlaywright.delete(known);
    }
  }

  #ownPatterns(): Protocol.Fetch.EnableRequest {
    return {
      patterns: this.#hosts.urlPatterns.map((urlPattern) => ({ urlPattern, requestStage: 'Request' as const })),
    };
  }
}

function key(sessionId: string, id: unknown): string {
  return `${sessionId} ${id}`;
}
