import { parseMessage } from '../../cdp/message.ts';

/** The response to a command that closes the browser; null for all others. This program ends then, like a browser. */
export function closeReply(text: string): string | null {
  // Most messages need not be parsed.
  if (!text.includes('Browser.close')) return null;
  const { id, method, sessionId } = parseMessage(text) ?? {};
  if (method !== 'Browser.close') return null;
  return JSON.stringify({ id, result: {}, ...(sessionId !== undefined && { sessionId }) });
}
