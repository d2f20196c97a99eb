import type { Protocol } from 'devtools-protocol';
import { SessionMap } from '../../model/per-session.ts';
import type { InterceptorLink } from '../../transport/interceptor.ts';
import { type CdpMessage, fieldsOf } from '../../transport/message.ts';
import type { NetError } from '../headers/net-error-names.ts';

/** Bounds on what is kept for Playwright to ask for, in bytes: of one body, and of all; Chromium's own are alike. */
const BODY_BYTES = 20 * 1024 * 1024;
const ALL_BYTES = 100 * 1024 * 1024;

/** How a body ended: whole, or in words of `Network.loadingFailed`. */
type Ending = 'whole' | NetError;

interface Kept {
  sessionId: string;
  pieces: Buffer[];
  size: number;
  ending: Ending | null;
  /** Of a whole one, its size on the network, with its head. */
  bytes: number | undefined;
  /** The browser's word that it is through: it was handed no body. */
  finished: CdpMessage | null;
  /** Playwright's questions for the body. */
  asking: CdpMessage[];
}

/**
 * What Playwright has of answers that went to a script in pieces: they are finished when their last piece is there, and
 * their bodies can be read. The browser has them for empty.
 */
export class KeptBodies {
  readonly #link: InterceptorLink;
  /** By network ID, oldest first. */
  readonly #kept: SessionMap<string, Kept>;
  #size = 0;

  constructor(link: InterceptorLink) {
    this.#link = link;
    // Nobody can ask for the bodies of a page that is gone.
    this.#kept = new SessionMap(link.model, (kept) => this.#drop(kept));
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
    if (kept.finished) this.#link.deliver(asEnded(kept.finished, kept));
    for (const question of kept.asking.splice(0)) this.#answer(question, kept);
  }

  /** Returns null for what is held until the last piece is there. */
  onMessage(message: CdpMessage): CdpMessage | null {
    if (message.method !== 'Network.loadingFinished') return message;
    const { requestId } = fieldsOf<Protocol.Network.LoadingFinishedEvent>(message.params);
    const kept = this.#kept.get(String(requestId));
    if (!kept || kept.sessionId !== message.sessionId) return message;
    if (kept.ending !== null) return asEnded(message, kept);
    kept.finished = message;
    return null;
  }

  /** Returns null for a question that is answered from here. */
  onCommand(command: CdpMessage): CdpMessage | null {
    if (command.method !== 'Network.getResponseBody') return command;
    const { requestId } = fieldsOf<Protocol.Network.GetResponseBodyRequest>(command.params);
    const kept = this.#kept.get(String(requestId));
    if (!kept || kept.size > BODY_BYTES) return command;
    if (kept.ending === null) kept.asking.push(command);
    else this.#answer(command, kept);
    return null;
  }

  #answer({ id, sessionId }: CdpMessage, { pieces, size }: Kept): void {
    const result = { body: Buffer.concat(pieces).toString('base64'), base64Encoded: true };
    const error = { code: -32000, message: 'Request content was evicted from inspector cache' };
    this.#link.deliver({ id, sessionId, ...(size > BODY_BYTES ? { error } : { result }) });
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
    const told = fieldsOf<Protocol.Network.LoadingFinishedEvent>(finished.params);
    return { ...finished, params: { ...told, encodedDataLength: bytes ?? told.encodedDataLength } };
  }
  const { requestId, timestamp } = fieldsOf<Protocol.Network.LoadingFinishedEvent>(finished.params);
  const canceled = ending === 'net::ERR_ABORTED';
  const params = { requestId, timestamp, type: 'Fetch', errorText: ending, canceled };
  return { ...finished, method: 'Network.loadingFailed', params };
}
