import type { NetError } from '../headers/net-error-names.ts';
import { type BridgeAnswer, MAX_BODY_BYTES } from './bridge-fetch.ts';

/** An answer that the browser takes nothing of but its head, or what has come of its body. */
export function cutShort(answer: Omit<BridgeAnswer, 'body' | 'rest'>, body: Buffer): BridgeAnswer {
  const headers = answer.headers.filter(({ name }) => !/^content-length$/i.test(name));
  return { ...answer, headers, body, rest: null };
}

/** The `Location` of an answer that redirects; null for every other one. */
export function redirectOf({ status, received }: BridgeAnswer): string | null {
  if (!/^30[12378]$/.test(String(status))) return null;
  return received.find(({ name }) => /^location$/i.test(name))?.value ?? null;
}

export function isEventStream({ status, received }: BridgeAnswer): boolean {
  const type = received.find(({ name }) => /^content-type$/i.test(name))?.value ?? '';
  return status === 200 && /^\s*text\/event-stream\s*(;|$)/i.test(type);
}

/** Chromium's name for how a body has ended before its end. */
export function howBroken({ code = '' }: NodeJS.ErrnoException, { head }: BridgeAnswer['exchange']): NetError {
  if (/^(Z_|ERR__)/.test(code)) return 'net::ERR_CONTENT_DECODING_FAILED';
  const isOfKnownLength = /^content-length:/im.test(head) && !/^transfer-encoding:/im.test(head);
  return isOfKnownLength ? 'net::ERR_CONTENT_LENGTH_MISMATCH' : 'net::ERR_INCOMPLETE_CHUNKED_ENCODING';
}

/** The whole of a body that no script takes in parts; null when the browser cannot be handed it. */
export async function wholeOf({ body, headers, rest }: BridgeAnswer): Promise<Buffer | null> {
  const told = Number(headers.find(({ name }) => /^content-length$/i.test(name))?.value ?? 0);
  if (!rest) return body;
  if (Math.max(told, body.length) > MAX_BODY_BYTES) return null;
  const whole = Buffer.concat([body, await rest.read(MAX_BODY_BYTES + 1 - body.length)]);
  return whole.length > MAX_BODY_BYTES ? null : whole;
}
