import type { Socket } from 'node:net';
import * as v from 'valibot';
import { LeaseError } from '../../errors.ts';
import type { CallTable, ErasedHandlers, Role } from '../rpc/call-table.ts';
import { LineSocket } from '../rpc/line-socket.ts';
import type { Reply } from '../rpc/messages/protocol.ts';
import { serializeError } from '../rpc/messages/serialized-error.ts';

/** Length limit of a request, in characters: it may contain everything that a test used, or a picture. */
const LONGEST_REQUEST = 16 * 1024 ** 2;

/** A request as one line. */
const request = v.object({
  id: v.pipe(v.number(), v.safeInteger()),
  method: v.string(),
  params: v.optional(v.unknown()),
});

/** One side of a socket that handles requests. */
export interface Side {
  /** What it may request, and what handles it. */
  served: readonly { calls: CallTable; handlers: ErasedHandlers }[];
  /** Null: it has not sent `hello`. */
  role(): Role | null;
  /** The run; no data of the service is sent before. */
  begun: Promise<{ secrets: readonly string[] }>;
}

/** Handles requests: they are parsed and checked for the role, and error responses contain no secrets. */
export function handleRequests(socket: Socket, { served, role, begun }: Side): void {
  let secrets: readonly string[] = [];
  begun.then(
    (run) => {
      secrets = run.secrets;
    },
    () => undefined,
  );
  const respondTo = async ({ id, method, params }: v.InferOutput<typeof request>): Promise<Reply> => {
    try {
      const known = served.find(({ calls }) => Object.hasOwn(calls, method));
      const spec = known?.calls[method];
      if (!spec) throw new LeaseError('BROKER_FAILED', `"${method}" is not a request`);
      const own = role();
      if (spec.roles && (own === null || !spec.roles.includes(own))) {
        throw new LeaseError('BROKER_FAILED', `"${method}" is for a ${spec.roles.join(' or a ')} only`);
      }
      return { id, result: (await known.handlers[method]?.(v.parse(spec.params, params) as never)) ?? null };
    } catch (error) {
      return { id, error: serializeError(error, secrets) };
    }
  };
  const receive = async (message: object) => {
    const asked = v.safeParse(request, message);
    if (!asked.success) return socket.destroy();
    // A client that does not read its responses may not send more requests.
    if (!lines.send(await respondTo(asked.output))) socket.pause();
  };
  const lines = new LineSocket(socket, { onMessage: (message) => void receive(message), maxLength: LONGEST_REQUEST });
  socket.on('drain', () => socket.resume());
}
