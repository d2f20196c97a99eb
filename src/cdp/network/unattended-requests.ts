import type { Protocol } from 'devtools-protocol';
import { setTimeout } from '../../common/clock.ts';
import { type CdpMessage, fieldsOf } from '../message.ts';
import type { NetworkRequest } from '../model/requests.ts';
import type { InterceptorTransport } from '../transport/interceptor.ts';
import type { ProxiedTarget, ProxiedTargets } from './proxied-targets.ts';
import { type PausedRequest, pausedRequest } from './proxy/paused-request.ts';

/** How long the frames of closed pages are kept, in ms: what these have sent last comes a few ms after their end. */
const KEPT_MS = 2_000;
/** Time limit for the announcement of a worker's script, in ms: it comes a few ms before or after the request. */
const ANNOUNCED_MS = 250;

/**
 * Requests that no session of a page or worker pauses: those that a page sends while it closes, because its sessions
 * end first, and the scripts of workers inside workers. The browser's root session pauses them. It comes last: a
 * request that another session answers never reaches it.
 */
export class UnattendedRequests {
  readonly #transport: InterceptorTransport;
  readonly #targets: ProxiedTargets;
  /** The patterns of hosts that any context reaches. */
  readonly #patterns = new Set<string>();
  /** Frames of pages that have closed just now. */
  readonly #closed = new Map<string, ProxiedTarget>();

  constructor(transport: InterceptorTransport, targets: ProxiedTargets) {
    this.#transport = transport;
    this.#targets = targets;
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
  }

  /** The request of an event of the root session, with the target that it belongs to; null if that is not known. */
  async of({ params }: CdpMessage): Promise<PausedRequest | null> {
    const { frameId, networkId } = fieldsOf<Protocol.Fetch.RequestPausedEvent>(params);
    const { frames, requests } = this.#transport.model;
    const id = String(frameId);
    const target = this.#targets.get(frames.get(id)?.session.id) ?? this.#closed.get(id);
    if (target) return unattended(target, params);
    // The script of a worker has the worker's ID, twice.
    if (typeof networkId !== 'string' || networkId !== frameId) return null;
    // Its redirects are not announced.
    const announced = await requests.announced(networkId, undefined, AbortSignal.timeout(ANNOUNCED_MS));
    const starting = announced && this.#targets.serving(announced.session);
    return starting ? unattended(starting, params, announced) : null;
  }
}

/** @param announced the request, if the event does not name its frame */
function unattended(target: ProxiedTarget, params: unknown, announced?: NetworkRequest): PausedRequest | null {
  const paused = pausedRequest(target, params);
  return paused && { ...paused, sessionId: undefined, frameId: announced ? announced.frameId : paused.frameId };
}
