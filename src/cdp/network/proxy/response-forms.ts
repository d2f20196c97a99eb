import { MAX_BODY_BYTES, type ProxyResponse } from './fetcher.ts';
import { headerOf } from './headers/header-list.ts';

/** A response of which the browser gets only the head, or the body so far. */
export function cutShort(response: Omit<ProxyResponse, 'body' | 'rest'>, body: Buffer): ProxyResponse {
  const headers = response.headers.filter(({ name }) => !/^content-length$/i.test(name));
  return { ...response, headers, body, rest: null };
}

/** The `Location` of a redirect; null for any other response. */
export function redirectOf({ status, received }: ProxyResponse): string | null {
  return /^30[12378]$/.test(String(status)) ? (headerOf(received, 'location') ?? null) : null;
}

export function isEventStream({ status, received }: ProxyResponse): boolean {
  return status === 200 && /^\s*text\/event-stream\s*(;|$)/i.test(headerOf(received, 'content-type') ?? '');
}

/** The whole of a body that no script takes in parts; null if it is too large for the browser. */
export async function wholeOf({ body, headers, rest }: ProxyResponse): Promise<Buffer | null> {
  if (!rest) return body;
  if (Math.max(Number(headerOf(headers, 'content-length') ?? 0), body.length) > MAX_BODY_BYTES) return null;
  const whole = Buffer.concat([body, await rest.read(MAX_BODY_BYTES + 1 - body.length)]);
  return whole.length > MAX_BODY_BYTES ? null : whole;
}
