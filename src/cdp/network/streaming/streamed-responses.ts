import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { deferred } from '../../../common/deferred.ts';
import { Attached } from '../../model/per-session.ts';
import type { InterceptorTransport } from '../../transport/interceptor.ts';
import type { PageBinding } from '../page-binding/page-binding.ts';
import type { ProxiedDocument, ProxiedDocuments } from '../page-binding/proxied-documents.ts';
import type { PausedRequest } from '../request/paused-request.ts';
import { howBroken } from '../send/failures.ts';
import type { ProxyResponse } from '../send/fetcher.ts';
import { ResponseBodies } from './response-bodies.ts';

/** The maximum size of one piece on the connection, in bytes. */
const PIECE_BYTES = 2 * 1024 * 1024;

const said = v.variant('op', [
  v.object({ op: v.literal('more'), id: v.string() }),
  v.object({ op: v.literal('drop'), id: v.string() }),
  v.object({ op: v.literal('block'), url: v.string() }),
  v.object({ op: v.literal('ended'), id: v.string(), last: v.string() }),
]);
type Said = v.InferOutput<typeof said>;

/** A request whose response is offered to its document. */
interface Offered extends PausedRequest {
  /** The address before any redirect: the page knows the request by that. */
  asked: string;
}

/** What is known about a document's requests. */
interface Known {
  /** IDs of streams' last events, by source address: the browser does not send these itself. */
  readonly lastIds: Map<string, string>;
  /** Addresses of synchronous requests, which block their page, so that it cannot take pieces. */
  readonly blocking: Set<string>;
}

/** A response being sent to a document. */
interface Stream {
  document: ProxiedDocument;
  networkId: string;
  asked: string;
  /** The part that is read but not sent. */
  head: Buffer;
  rest: NonNullable<ProxyResponse['rest']>;
  exchange: ProxyResponse['exchange'];
  abort: AbortController;
  /**
   * For an event stream: called at its end with what the browser's own source must read, or null if no source is left.
   */
  onEnded?: (last: Buffer | null) => void;
}

/**
 * Responses that the browser cannot get as they arrive, because it takes each in one message: those that exceed the
 * message limit, and streams. The page's script that requested one gets it in pieces, each when it has arrived and the
 * script asks for it. Neither side buffers more than that, except for what Playwright may ask for.
 */
export class StreamedResponses {
  readonly kept: ResponseBodies;
  readonly #documents: ProxiedDocuments;
  readonly #binding: PageBinding;
  readonly #streams = new Map<string, Stream>();
  readonly #known = new Attached<ProxiedDocument, Known>(() => ({ lastIds: new Map(), blocking: new Set() }));

  constructor(transport: InterceptorTransport, documents: ProxiedDocuments, binding: PageBinding) {
    this.#documents = documents;
    this.#binding = binding;
    this.kept = new ResponseBodies(transport);
    transport.model.onWorldEnd((world) => this.#leave(world));
    binding.listen((document, payload) => {
      const { success, output: data } = v.safeParse(said, payload);
      if (success) this.#take(document, data);
    });
  }

  /** The document that a request may belong to. */
  documentOf({ target, frameId }: PausedRequest): ProxiedDocument | undefined {
    return this.#documents.inFrame(target.session.id, frameId);
  }

  /** The last event ID that sources of an address have read in a request's document, if any. */
  lastEventId(paused: PausedRequest, asked: string): string | undefined {
    const document = this.documentOf(paused);
    return document && this.#known.of(document).lastIds.get(asked);
  }

  /** Whether a script of the document waits for this response and will take its body. */
  async offer(paused: Offered, response: ProxyResponse, abort: AbortController): Promise<boolean> {
    const isTaken = await this.#offer(paused, response, { abort });
    if (isTaken) this.kept.begin(String(paused.networkId), paused.target.session.id);
    return isTaken;
  }

  /**
   * Gives an event stream to the source in the document that requested it, while the browser's own request stays open.
   * @returns what the browser must get at the end of the stream, to continue as if it had read it; null when no source
   * takes it
   */
  async offerEvents(paused: Offered, response: ProxyResponse, abort: AbortController): Promise<Buffer | null> {
    const { promise: ended, resolve: onEnded } = deferred<Buffer | null>();
    return (await this.#offer(paused, response, { abort, onEnded })) ? await ended : null;
  }

  async #offer(
    { target, frameId, networkId, url, asked }: Offered,
    response: ProxyResponse,
    how: Pick<Stream, 'abort' | 'onEnded'>,
  ): Promise<boolean> {
    const document = this.#documents.inFrame(target.session.id, frameId);
    if (!document || !response.rest || networkId === undefined) return false;
    if (this.#known.of(document).blocking.delete(asked)) return false;
    const id = randomUUID();
    // Before the offer: the document may ask for the first piece at once.
    const { body: head, rest, exchange } = response;
    this.#streams.set(id, { document, networkId, asked, head, rest, exchange, ...how });
    const isEvents = how.onEnded !== undefined;
    const offer = { op: 'offer', id, url: asked, isEvents, origin: new URL(url).origin };
    const isTaken = await this.#binding.call(document, offer).catch(() => false);
    if (!isTaken) this.#streams.delete(id);
    return isTaken;
  }

  /** A document is gone and can no longer receive anything. */
  #leave(document: ProxiedDocument): void {
    for (const [id, stream] of this.#streams) if (stream.document === document) this.#drop(id, stream);
  }

  #take(document: ProxiedDocument, data: Said): void {
    if (data.op === 'block') {
      this.#known.of(document).blocking.add(data.url);
      return;
    }
    const stream = this.#streams.get(data.id);
    if (stream?.document !== document) return;
    if (data.op === 'more') void this.#send(data.id, stream);
    else if (data.op === 'ended') this.#end(data.id, stream, data.last);
    else this.#drop(data.id, stream);
  }

  /** A source has read all of its stream. */
  #end(id: string, { onEnded, document, asked }: Stream, last: string): void {
    if (!onEnded) return;
    const [, lastId] = /^id: (.*)$/m.exec(last) ?? [];
    if (lastId !== undefined) this.#known.of(document).lastIds.set(asked, lastId);
    this.#streams.delete(id);
    onEnded(Buffer.from(last));
  }

  /** Never rejects. */
  async #send(id: string, stream: Stream): Promise<void> {
    const { document, networkId, exchange, onEnded } = stream;
    try {
      const piece = await this.#next(stream);
      if (piece === null) {
        if (!onEnded) this.#streams.delete(id);
        this.kept.end(networkId, 'whole', exchange.bytes());
        await this.#binding.call(document, { op: 'piece', id, last: true });
        return;
      }
      this.kept.add(networkId, piece);
      await this.#binding.call(document, { op: 'piece', id, data: piece.toString('base64') });
    } catch (error) {
      if (onEnded) {
        // The server has closed the connection: for a source, that is the end.
        await this.#binding.call(document, { op: 'piece', id, last: true }).catch(() => undefined);
        return;
      }
      this.kept.end(networkId, howBroken(error as Error, exchange.head));
      this.#drop(id, stream);
      // The server has closed the connection; or the document is gone, and this call fails, too.
      await this.#binding.call(document, { op: 'piece', id, failed: true }).catch(() => undefined);
    }
  }

  /** Roughly {@link PIECE_BYTES} at most; null at the end. */
  async #next(stream: Stream): Promise<Buffer | null> {
    if (stream.head.length === 0) return await stream.rest.readNext(PIECE_BYTES);
    const piece = stream.head.subarray(0, PIECE_BYTES);
    stream.head = stream.head.subarray(piece.length);
    return piece;
  }

  #drop(id: string, { abort, rest, networkId, onEnded }: Stream): void {
    this.#streams.delete(id);
    onEnded?.(null);
    this.kept.end(networkId, 'net::ERR_ABORTED');
    rest.cancel();
    abort.abort();
  }
}
