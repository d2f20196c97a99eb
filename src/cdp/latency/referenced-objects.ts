import type { CdpMessage } from '../transport/message.ts';

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
