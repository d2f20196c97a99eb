import type { Protocol } from 'devtools-protocol';
import * as v from 'valibot';
import { setTimeout } from '../../../common/clock.ts';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import type { NetworkRequest } from '../../model/requests.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import { type PausedRequest, pausedRequest } from '../request/paused-request.ts';
import type { ProxiedTarget, ProxiedTargets } from '../request/proxied-targets.ts';

/** How long the frames of closed pages are kept, in ms: what these have sent last comes a few ms after their end. */
const KEPT_MS = 2_000;
/** Time limit for the announcement of a worker's script, in ms: it comes a few ms before or after the request. */
const ANNOUNCED_MS = 250;

/** With the page's session and the root session, ten downloads of one page can begin at once. */
const MORE_SESSIONS = 8;

const attached = v.looseObject({ sessionId: v.string() });

/**
 * Requests that no session of a page or worker pauses: those that a page sends while it closes, because its sessions
 * end first, and the scripts of workers inside workers. The browser's root session pauses them. It comes last: a
 * request that another session answers never reaches it.
 *
 * Chromium lets a session pause only one download at a time, and sends the others (of links with a `download`
 * attribute) to the network. So more sessions on the browser pause documents, each of them one download.
 */
export class UnattendedRequests {
  readonly #transport: InterceptorTransport;
  readonly #targets: ProxiedTargets;
  readonly #onPaused: (message: CdpMessage) => void;
  /** The IDs of the additional sessions, once the first hosts are known. */
  #sessions: Promise<string>[] | undefined;
  /** The patterns of hosts that any context reaches. */
  readonly #patterns = new Set<string>();
  /** Frames of pages that have closed just now. */
  readonly #closed = new Map<string, ProxiedTarget>();

  /** @param onPaused called with each `Fetch.requestPaused` of the additional sessions */
  constructor(transport: InterceptorTransport, targets: ProxiedTargets, onPaused: (message: CdpMessage) => void) {
    this.#transport = transport;
    this.#targets = targets;
    this.#onPaused = onPaused;
    transport.model.onSessionEnd((session) => {
      const target = this.#targets.get(session.id);
      if (!target?.isDocument) return;
      const frames = [session.target.id, ...transport.model.frames.of(session)];
      for (const id of frames) this.#closed.set(id, target);
      setTimeout(() => {
        for (const id of frames) this.#closed.delete(id);
      }, KEPT_MS).unref();
    });
  }

  /** Pauses requests to more hosts. Concerns documents and workers that start later, so it comes before them. */
  pause(urlPatterns: readonly string[]): void {
    const before = this.#patterns.size;
    // Workers and beacons cannot request files.
    for (const pattern of urlPatterns) if (!pattern.startsWith('file:')) this.#patterns.add(pattern);
    if (this.#patterns.size === before) return;
    const patterns = [...this.#patterns].map((urlPattern) => ({ urlPattern, requestStage: 'Request' as const }));
    this.#transport.post('Fetch.enable', { patterns });
    const documents = patterns.map((pattern) => ({ ...pattern, resourceType: 'Document' as const }));
    this.#sessions ??= Array.from({ length: MORE_SESSIONS }, () => this.#open());
    for (const opened of this.#sessions) {
      opened.then(
        (session) => this.#transport.post('Fetch.enable', { patterns: documents }, session),
        () => undefined, // the connection is closed, or the browser allows no more sessions
      );
    }
  }

  async #open(): Promise<string> {
    const { sessionId } = v.parse(attached, await this.#transport.call('Target.attachToBrowserTarget'));
    this.#transport.view.listen(sessionId, (message) => {
      if (message.method === 'Fetch.requestPaused') this.#onPaused(message);
    });
    return sessionId;
  }

  /** The request of an event of a session on the browser, with its target; null if that is not known. */
  async of({ params, sessionId }: CdpMessage): Promise<PausedRequest | null> {
    const { frameId, networkId } = fieldsOf<Protocol.Fetch.RequestPausedEvent>(params);
    const { frames, requests } = this.#transport.model;
    const id = String(frameId);
    // A page without an opener has no frame before its first document.
    const target = this.#targets.get(frames.get(id)?.session.id) ?? this.#targets.ofPage(id) ?? this.#closed.get(id);
    if (target) return unattended(target, params, sessionId);
    // The script of a worker has the worker's ID, twice.
    if (typeof networkId !== 'string' || networkId !== frameId) return null;
    // Its redirects are not announced.
    const announced = await requests.announced(networkId, undefined, AbortSignal.timeout(ANNOUNCED_MS));
    const starting = announced && this.#targets.serving(announced.session);
    return starting ? unattended(starting, params, sessionId, announced) : null;
  }
}

/** @param announced the request, if the event does not name its frame */
function unattended(
  target: ProxiedTarget,
  params: unknown,
  sessionId: string | undefined,
  announced?: NetworkRequest,
): PausedRequest | null {
  const paused = pausedRequest(target, params);
  return paused && { ...paused, sessionId, frameId: announced ? announced.frameId : paused.frameId };
}
