import type { Socket } from 'node:net';
import * as v from 'valibot';
import { LeaseError } from '../../errors.ts';
import { LineSocket } from './line-socket.ts';
import type { Method, Reply } from './messages/protocol.ts';
import { type helloParams, request } from './messages/requests.ts';
import { serializeError } from './messages/serialized-error.ts';

/** Length limit of a request, in characters: it may contain everything that a test used, or a picture. */
const LONGEST_REQUEST = 16 * 1024 ** 2;

/** Who has opened a connection. */
export type Role = v.InferOutput<typeof helloParams>['role'];

interface Handler {
  schema: v.GenericSchema;
  /** Who may send it; null: everybody. */
  needs: readonly Role[] | null;
  handle(params: unknown): unknown;
}

/** Registers the handler of a request. */
export type AddHandler = <S extends v.GenericSchema>(
  method: Method,
  schema: S,
  needs: Handler['needs'],
  handle: (params: v.InferOutput<S>) => unknown,
) => void;

/** Registers handlers. Requests are then parsed and checked for the role, and error responses contain no secrets. */
export function handleRequests(
  socket: Socket,
  begun: Promise<{ secrets: readonly string[] }>,
  role: () => Role | null,
): AddHandler {
  let secrets: readonly string[] = []; // no data of the service is sent before
  begun.then(
    (run) => {
      secrets = run.secrets;
    },
    () => undefined,
  );
  const handlers = new Map<string, Handler>();
  const respondTo = async ({ id, method, params }: v.InferOutput<typeof request>): Promise<Reply> => {
    try {
      const handler = handlers.get(method);
      if (!handler) throw new LeaseError('BROKER_FAILED', `"${method}" is not a request`);
      const { schema, needs, handle } = handler;
      const own = role();
      if (needs && (own === null || !needs.includes(own))) {
        throw new LeaseError('BROKER_FAILED', `"${method}" is for a ${needs.join(' or a ')} only`);
      }
      return { id, result: (await handle(v.parse(schema, params))) ?? null };
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
  const on: AddHandler = (method, schema, needs, handle) => {
    handlers.set(method, { schema, needs, handle: handle as Handler['handle'] });
  };
  return on;
}
