import type { Protocol } from 'devtools-protocol';
import { fieldsOf } from '../transport/message.ts';
import type { Session, World } from './session.ts';

/** The world in the parameters of `Runtime.executionContextCreated`; null if there is none. */
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
