/**
 * Chromium and its clients write a message's `sessionId` last. Read and changed there, a message need not be parsed:
 * some have many megabytes. What ends in this way has it at the top level: the last brace closes the message itself.
 */
const TAIL = /,"sessionId":"([^"\\]{1,64})"\}$/;
const LONGEST_TAIL = ',"sessionId":""}'.length + 64;

/** The session that ends a message; undefined where it does not end so. */
export function sessionInTail(message: Buffer): string | undefined {
  return TAIL.exec(message.toString('latin1', Math.max(0, message.length - LONGEST_TAIL)))?.[1];
}

/** The message without the session that ends it; the bytes are changed in place. */
export function withoutTail(message: Buffer, sessionId: string): Buffer {
  const end = message.length - `,"sessionId":"${sessionId}"}`.length;
  message[end] = '}'.charCodeAt(0);
  return message.subarray(0, end + 1);
}

/** The message, a whole JSON object that is not empty, with a session at its end. */
export function withTail(message: Buffer, sessionId: string): Buffer {
  const body = message.subarray(0, message.lastIndexOf('}'));
  return Buffer.concat([body, Buffer.from(`,"sessionId":"${sessionId}"}`)]);
}
