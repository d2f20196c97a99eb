import { parsedJson } from '../../common/text/parsed-json.ts';
import { splitCommand } from './message-bytes.ts';

/** A client's command, checked as Chromium checks one. */
export interface ClientCommand {
  id: number;
  method: string;
  params?: object | null | undefined;
  /** `params` as the client wrote them, where writing them again would take long. */
  written?: Buffer | undefined;
  /** Absent in commands to the browser itself. */
  sessionId?: string | undefined;
}

/** Chromium's response to a message that is not a command. */
export interface InvalidMessage {
  id?: number;
  error: { code: number; message: string };
}

const FIELDS = new Set(['id', 'method', 'sessionId', 'params']);
/** Chromium's limit, for `params` and what is in them. */
const MAX_DEPTH = 300;
/** From this size on, in bytes, parameters are passed on as they are: Playwright's script for a page has 300 kB. */
const LONG = 16_384;
/** Chromium's response to a command in a session that has ended, or that another client has. */
export const SESSION_NOT_FOUND = { code: -32_001, message: 'Session with given id not found.' };

/**
 * Reads one message of a client. It is refused for the same reasons, and with the same codes, as by Chromium's own
 * WebSocket server; only a control character that is not escaped, which Chromium accepts, is an error here.
 */
export function readCommand(message: Buffer): ClientCommand | InvalidMessage {
  const parts = message.length < LONG ? undefined : splitCommand(message);
  const params = parts && parsedJson(parts.params.toString());
  // Whole JSON between that beginning and end: the message has these fields and no others.
  if (params) return checked({ ...parts, params }, parts.params);
  try {
    return checked(JSON.parse(message.toString()));
  } catch (error) {
    return invalid(-32_700, `JSON: ${(error as Error).message}`);
  }
}

function checked(value: unknown, written?: Buffer): ClientCommand | InvalidMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return invalid(-32_600, 'Message must be an object');
  }
  const { id, method, params, sessionId } = value as Record<string, unknown>;
  if (!isInt32(id)) return invalid(-32_600, "Message must have integer 'id' property");
  const refused = (text: string) => invalid(-32_600, text, id);
  if (sessionId !== undefined && typeof sessionId !== 'string') {
    return refused("Message may have string 'sessionId' property");
  }
  if (typeof method !== 'string' || method === '') return refused("Message must have string 'method' property");
  if (params !== undefined && typeof params !== 'object') return refused("Message may have object 'params' property");
  if (Object.keys(value).some((name) => !FIELDS.has(name))) {
    return refused("Message has property other than 'id', 'method', 'sessionId', 'params'");
  }
  if (isDeeper(params, MAX_DEPTH)) return invalid(-32_700, 'JSON: stack limit exceeded');
  return { id, method, params, written, sessionId: sessionId || undefined };
}

function invalid(code: number, message: string, id?: number): InvalidMessage {
  return { ...(id !== undefined && { id }), error: { code, message } };
}

function isInt32(value: unknown): value is number {
  return typeof value === 'number' && value === (value | 0);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}
