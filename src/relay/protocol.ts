import * as v from 'valibot';
import { parsedJson } from '../common/text/parsed-json.ts';

/**
 * What a worker and a relay exchange on one WebSocket. Text frames are messages of Playwright's own protocol, passed on
 * unread. Binary frames are ours: one JSON object each, or a part of a stream. One connection keeps the two in order,
 * so that figures precede the response that ends a test.
 */

/** Path of the WebSocket. */
export const RELAY_PATH = '/v1/lease';
/** Path of the relay's status, before any lease. */
export const STATUS_PATH = '/v1/status';
/** Both sides need the same. */
export const RELAY_PROTOCOL = 3;

/** The status of a relay. */
export const relayStatus = v.object({
  protocol: v.number(),
  /** Major and minor versions of Playwright. */
  versions: v.array(v.string()),
});

/** The first message of a worker: its browser, and what the relay does besides passing messages on. */
const open = v.strictObject({
  type: v.literal('open'),
  /** A secret. */
  cdpUrl: v.string(),
  /** Sent with the connection to it. Secrets. */
  headers: v.optional(v.record(v.string(), v.string())),
  sessionId: v.string(),
  metering: v.boolean(),
  ahead: v.boolean(),
  sharesBrowser: v.boolean(),
  /** Whether others may use it at the same time. */
  runsAlready: v.boolean(),
  /** The browser's default context in place of a new one; null: new contexts. */
  persistent: v.nullable(v.strictObject({ clear: v.boolean() })),
  /** Servers that pages reach through the worker: the value of the option `exposeNetwork`. */
  exposeNetwork: v.string(),
});

/** Checks that the browser responds. */
const ask = v.strictObject({ type: v.literal('ask'), id: v.number() });

/** Closes what tests have left in the browser. The response says why no other test may use it. */
const clean = v.strictObject({ type: v.literal('clean'), id: v.number() });

/** A worker's messages. */
export const fromWorker = v.variant('type', [open, ask, clean]);

/** Sent once the browser is connected. Messages of Playwright follow. */
const opened = v.strictObject({
  type: v.literal('opened'),
  /** Whether the browser's pages have separate windows. */
  haveWindows: v.boolean(),
});

/** The browser could not be connected. The reason contains no secret. */
const failed = v.strictObject({ type: v.literal('failed'), reason: v.string() });

const answered = v.strictObject({ type: v.literal('answered'), id: v.number(), error: v.nullable(v.string()) });

/** Measurements since the connection opened. */
const figures = v.strictObject({
  type: v.literal('figures'),
  /** Null without metering. */
  observedBytes: v.nullable(v.number()),
  commands: v.number(),
  roundTripMs: v.nullable(v.number()),
  savedMs: v.number(),
  /** Why the browser is broken although it responds; null if it is not known to be. */
  fault: v.nullable(v.string()),
});

/** A part of an upload did not reach the browser unchanged. */
const notCarried = v.strictObject({ type: v.literal('notCarried'), text: v.string() });

/** A page was not allowed to reach this address, which the test visits. */
const denied = v.strictObject({ type: v.literal('denied'), url: v.string() });

/** The connection to the browser closed. */
const closed = v.strictObject({
  type: v.literal('closed'),
  code: v.nullable(v.number()),
  reason: v.string(),
});

/** A relay's messages. */
export const fromRelay = v.variant('type', [opened, failed, answered, figures, notCarried, denied, closed]);

export type FromWorker = v.InferOutput<typeof fromWorker>;
export type Open = v.InferOutput<typeof open>;
export type FromRelay = v.InferOutput<typeof fromRelay>;
export type RelayFigures = Omit<v.InferOutput<typeof figures>, 'type'>;

/** A message of ours as a binary frame. */
export function frame(message: FromWorker | FromRelay): Buffer {
  return Buffer.from(JSON.stringify(message));
}

/** Reads a binary frame; null if it is not a message of ours. */
export function readFrame<Schema extends typeof fromWorker | typeof fromRelay>(
  schema: Schema,
  data: Buffer,
): v.InferOutput<Schema> | null {
  const { success, output } = v.safeParse(schema, parsedJson(data.toString()));
  return success ? output : null;
}

/** What is wrong, and the command that helps. */
export function missingVersion(version: string, known: readonly string[]): string {
  return `the relay has no Playwright ${version}, only ${known.join(', ')}. Install it beside the relay, and restart the relay: npm install playwright-${version}@npm:playwright-core@${version}`;
}

/** Major and minor version: a relay serves every Playwright that shares them. Null for other text. */
export function minorVersion(version: string): string | null {
  return /^\d+\.\d+/.exec(version)?.[0] ?? null;
}

/** Major and minor version of the Playwright that sent a `User-Agent`; null for any other client. */
export function playwrightVersion(userAgent: string | undefined): string | null {
  return /^Playwright\/(\d+\.\d+)/.exec(userAgent ?? '')?.[1] ?? null;
}
