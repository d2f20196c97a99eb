import type { CdpMessage } from '../transport/message.ts';

/** IDs of the objects that a command is about. */
export function objectsOf({ params }: CdpMessage): string[] {
  const found: string[] = [];
  JSON.stringify(params ?? {}, (field, value) => {
    if (field === 'objectId' && typeof value === 'string') found.push(value);
    return value;
  });
  return found;
}
