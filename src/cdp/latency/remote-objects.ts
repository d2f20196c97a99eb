import type { Protocol } from 'devtools-protocol';
import { type CdpMessage, type Fields, fieldsOf } from '../message.ts';

/** The value in the response to `Runtime.evaluate`, `Runtime.callFunctionOn` and `DOM.resolveNode`. */
export function objectOf({ result }: CdpMessage): Fields<Protocol.Runtime.RemoteObject> {
  const { result: value, object } = fieldsOf<Protocol.Runtime.EvaluateResponse & Protocol.DOM.ResolveNodeResponse>(
    result,
  );
  return fieldsOf(value ?? object);
}

/** Whether a response reports an exception instead of a result. */
export function hasThrown({ result }: CdpMessage): boolean {
  return fieldsOf<Protocol.Runtime.EvaluateResponse>(result).exceptionDetails !== undefined;
}

/** IDs of the objects that a command refers to. */
export function referencedObjects({ params }: CdpMessage): string[] {
  return idsIn(params);
}

function idsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([field, held]) =>
    field === 'objectId' && typeof held === 'string' ? [held] : idsIn(held),
  );
}
