/**
 * Chromium writes a response's `id` first and a message's `sessionId` last. Read and changed there, a message need not
 * be parsed: some have many megabytes. What ends in this way has it at the top level: the last brace closes the
 * message itself.
 */
const TAIL = /,"sessionId":"([^"\\]{1,64})"\}$/;
const LONGEST_TAIL = ',"sessionId":""}'.length + 64;
const HEAD = /^\{"id":(-?\d{1,10}),/;
const LONGEST_HEAD = '{"id":-1234567890,'.length;

/** As Playwright begins a command with parameters. */
const COMMAND = /^\{"id":(\d{1,10}),"method":"([\w.]{1,64})","params":(?=\{)/;
const LONGEST_COMMAND = '{"id":1234567890,"method":"","params":{'.length + 64;

/** The session that ends a message; undefined where it does not end so. */
export function sessionInTail(message: Buffer): string | undefined {
  return TAIL.exec(message.toString('latin1', Math.max(0, message.length - LONGEST_TAIL)))?.[1];
}

/** The message without the session that ends it; the bytes are changed in place. */
export function withoutTail(message: Buffer, sessionId: string): Buffer {
  const end = message.length - tailOf(sessionId).length;
  message[end] = '}'.charCodeAt(0);
  return message.subarray(0, end + 1);
}

/** The ID that a response begins with; undefined for an event. */
export function idAtHead(message: Buffer): number | undefined {
  const digits = HEAD.exec(message.toString('latin1', 0, LONGEST_HEAD))?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export function withIdAtHead(response: Buffer, id: number): Buffer {
  return Buffer.concat([Buffer.from(`{"id":${id}`), response.subarray(response.indexOf(','))]);
}

/** The fields of a client's command in a session, as Playwright writes one; undefined for what is written otherwise. */
export function splitCommand(message: Buffer) {
  const start = COMMAND.exec(message.toString('latin1', 0, LONGEST_COMMAND));
  const sessionId = sessionInTail(message);
  if (!start || sessionId === undefined) return undefined;
  const [head, id, method] = start;
  const params = message.subarray(head.length, message.length - tailOf(sessionId).length);
  return { id: Number(id), method, params, sessionId };
}

function tailOf(sessionId: string): string {
  return `,"sessionId":"${sessionId}"}`;
}
