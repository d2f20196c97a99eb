import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, fieldsOf } from '../../message.ts';
import { SessionMap } from '../../model/per-session.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import type { NetError } from '../send/failures.ts';

/** Limits on bodies kept for the client, in bytes: for one body, and in total; similar to Chromium's own. */
const BODY_BYTES = 20 * 1024 * 1024;
const ALL_BYTES = 100 * 1024 * 1024;

/** How a body ended: complete, or with the error of `Network.loadingFailed`. */
type Ending = 'whole' | NetError;

interface Kept {
  sessionId: string;
  pieces: Buffer[];
  size: number;
  ending: Ending | null;
  /** Size of a complete response on the network, including its head. */
  bytes: number | undefined;
  /** The browser's event that it is finished (the browser got no body). */
  finished: CdpMessage | null;
  /** The client's pending requests for the body. */
  asking: CdpMessage[];
}

/**
 * The client's view of responses that went to a script in pieces: they finish with their last piece, and their bodies
 * can be read. For the browser, they are empty.
 */
export class ResponseBodies {
  readonly #transport: InterceptorTransport;
  /** By network ID, oldest first. */
  readonly #kept: SessionMap<string, Kept>;
  #size = 0;

  constructor(transport: InterceptorTransport) {
    this.#transport = transport;
    // Bodies of a closed page cannot be requested.
    this.#kept = new SessionMap(transport.model, (kept) => this.#drop(kept));
  }

  begin(networkId: string, sessionId: string): void {
    this.#forget(networkId);
    const kept: Kept = { sessionId, pieces: [], size: 0, ending: null, bytes: undefined, finished: null, asking: [] };
    this.#kept.set(networkId, kept, sessionId);
  }

  add(networkId: string, piece: Buffer): void {
    const kept = this.#kept.get(networkId);
    if (!kept) return;
    kept.size += piece.length;
    if (kept.size <= BODY_BYTES) {
      kept.pieces.push(piece);
      this.#size += piece.length;
    } else {
      this.#drop(kept);
    }
    for (const [id, { ending }] of this.#kept) {
      if (this.#size <= ALL_BYTES) break;
      if (ending !== null) this.#forget(id);
    }
  }

  /** @param bytes as they crossed the network, with their head */
  end(networkId: string, ending: Ending, bytes?: number): void {
    const kept = this.#kept.get(networkId);
    if (!kept || kept.ending !== null) return;
    kept.ending = ending;
    kept.bytes = bytes;
    if (kept.finished) this.#transport.deliver(asEnded(kept.finished, kept));
    for (const question of kept.asking.splice(0)) this.#respond(question, kept);
  }

  /** Returns null for an event that is held until the last piece has arrived. */
  onMessage(message: CdpMessage): CdpMessage | null {
    if (message.method !== 'Network.loadingFinished') return message;
    const { requestId } = fieldsOf<Protocol.Network.LoadingFinishedEvent>(message.params);
    const kept = this.#kept.get(String(requestId));
    if (!kept || kept.sessionId !== message.sessionId) return message;
    if (kept.ending !== null) return asEnded(message, kept);
    kept.finished = message;
    return null;
  }

  /** Returns null for a request that gets its response here. */
  onCommand(command: CdpMessage): CdpMessage | null {
    if (command.method !== 'Network.getResponseBody') return command;
    const { requestId } = fieldsOf<Protocol.Network.GetResponseBodyRequest>(command.params);
    const kept = this.#kept.get(String(requestId));
    if (!kept || kept.size > BODY_BYTES) return command;
    if (kept.ending === null) kept.asking.push(command);
    else this.#respond(command, kept);
    return null;
  }

  #respond({ id, sessionId }: CdpMessage, { pieces, size }: Kept): void {
    const result = { body: Buffer.concat(pieces).toString('base64'), base64Encoded: true };
    const error = { code: -32000, message: 'Request content was evicted from inspector cache' };
    this.#transport.deliver({ id, sessionId, ...(size > BODY_BYTES ? { error } : { result }) });
  }

  #forget(networkId: string): void {
    const kept = this.#kept.get(networkId);
    if (!kept) return;
    this.#drop(kept);
    this.#kept.delete(networkId);
  }

  #drop(kept: Kept): void {
    for (const { length } of kept.pieces.splice(0)) this.#size -= length;
  }
}

function asEnded(finished: CdpMessage, { ending, bytes }: Kept): CdpMessage {
  if (ending === 'whole') {
    const reported = fieldsOf<Protocol.Network.LoadingFinishedEvent>(finished.params);
    return { ...finished, params: { ...reported, encodedDataLength: bytes ?? reported.encodedDataLength } };
  }
  const { requestId, timestamp } = fieldsOf<Protocol.Network.LoadingFinishedEvent>(finished.params);
  const canceled = ending === 'net::ERR_ABORTED';
  const params = { requestId, timestamp, type: 'Fetch', errorText: ending, canceled };
  return { ...finished, method: 'Network.loadingFailed', params };
}
