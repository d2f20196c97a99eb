/** One CDP message, either way: a command (`id`, `method`), its answer (`id`) or an event (`method`). */
export interface CdpMessage {
  id?: number;
  /** Absent for the browser itself. */
  sessionId?: string;
  method?: string;
  /** From the wire, so it may be anything: see {@link fieldsOf}. */
  params?: unknown;
  result?: unknown;
  error?: { code?: number; message?: string };
}

/** Data from the wire that should be a `T`: the names are the protocol's, the values may be anything. */
export type Fields<T> = { readonly [Name in keyof T]?: unknown };

const NONE: object = Object.freeze({});

/** The fields of data from the wire; none of what is no object. Each value has to be checked where it is used. */
export function fieldsOf<T>(value: unknown): Fields<T> {
  return (typeof value === 'object' && value !== null ? value : NONE) as Fields<T>;
}

/** Reads what came over the wire; null for what is not JSON, or no message of CDP. */
export function parseMessage(text: string): CdpMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { method } = fieldsOf<CdpMessage>(value);
  return method === undefined || typeof method === 'string' ? value : null;
}
