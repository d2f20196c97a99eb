import { parsedJson } from '../common/text/parsed-json.ts';

/** One CDP message in either direction: a command (`id`, `method`), its response (`id`) or an event (`method`). */
export interface CdpMessage {
  id?: number;
  /** Absent in messages of the browser's root session. */
  sessionId?: string;
  method?: string;
  /** From the wire, so it may be any value: see {@link fieldsOf}. */
  params?: unknown;
  result?: unknown;
  error?: { code?: number; message?: string };
}

/** Data from the connection that should be a `T`: the names are those of the protocol, the values may be anything. */
export type Fields<T> = { readonly [Name in keyof T]?: unknown };

const NONE: object = Object.freeze({});

/**
 * Returns the fields of such data; no fields if it is not an object. Callers check each value that they use.
 */
export function fieldsOf<T>(value: unknown): Fields<T> {
  return (typeof value === 'object' && value !== null ? value : NONE) as Fields<T>;
}

/** Parses text from the connection; null if it is not JSON or not a CDP message. */
export function parseMessage(text: string): CdpMessage | null {
  const value = parsedJson(text);
  if (typeof value !== 'object' || value === null) return null;
  const { method } = fieldsOf<CdpMessage>(value);
  return method === undefined || typeof method === 'string' ? value : null;
}
