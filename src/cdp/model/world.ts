import type { Protocol } from 'devtools-protocol';
import { fieldsOf } from '../transport/message.ts';
import type { Session } from './session.ts';

/** A JavaScript context, as the browser reports it in one session (`Runtime.executionContextCreated`). */
export interface World {
  readonly session: Session;
  /** Unique in its process; another world may have it after a page went over to another process. */
  readonly id: number;
  /** Unique for good: what is said to it reaches no other. */
  readonly uniqueId: string;
  readonly name: string;
  /** Of the document: `about:blank` has the one of its creator, a sandboxed or `data:` document one that equals no other. */
  readonly origin: string;
  /** The document's own scripts run in it, not a client's or an extension's. */
  readonly isDefault: boolean;
  /** Undefined in a worker. */
  readonly frameId: string | undefined;
}

/** What the parameters of `Runtime.executionContextCreated` report; null where they report no world. */
export function worldOf(session: Session, params: unknown): World | null {
  const { context } = fieldsOf<Protocol.Runtime.ExecutionContextCreatedEvent>(params);
  const { id, uniqueId, name, origin, auxData } = fieldsOf<Protocol.Runtime.ExecutionContextDescription>(context);
  const { isDefault, frameId } = fieldsOf<{ isDefault: boolean; frameId: string }>(auxData);
  if (typeof id !== 'number' || !Number.isInteger(id)) return null;
  return {
    session,
    id,
    uniqueId: typeof uniqueId === 'string' ? uniqueId : '',
    name: typeof name === 'string' ? name : '',
    origin: typeof origin === 'string' ? origin : '',
    isDefault: isDefault === true,
    frameId: typeof frameId === 'string' ? frameId : undefined,
  };
}
