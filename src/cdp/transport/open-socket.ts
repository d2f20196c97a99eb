import { constants } from 'node:buffer';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { urlCredentials } from '../../common/url/credentials.ts';
import { LeaseError, PoolwrightError } from '../../errors.ts';
import { redactText } from '../../redact.ts';

/** What has passed over a link since it was opened, in bytes. */
export interface LinkTraffic {
  received: number;
  sent: number;
  /** Of those sent, in messages that have not left this process in full. */
  queued: number;
}

/** Messages of as many bytes and more are compressed, where the other side agrees to that. */
const DEFLATED_BYTES = 10 * 1024;

/**
 * An open WebSocket, and what has passed over the connection under it, by which the watchdog tells a slow link from a
 * dead one.
 */
export interface OpenSocket {
  /** Paused: who has begun to listen resumes it, and misses nothing. */
  readonly socket: WebSocket;
  traffic(): LinkTraffic;
  /** Cuts the connection without a goodbye. */
  cut(): void;
}

/** Until when an opening socket is waited for. */
export interface OpenLimits {
  /** ms */
  timeout: number;
  signal?: AbortSignal | undefined;
  /** Whose browser it is, for errors. */
  sessionId?: string | undefined;
}

/**
 * Opens a WebSocket to a `ws:` or `wss:` address that is a secret: no error holds more of it than its host.
 * @throws LeaseError `CONNECT_FAILED`: refused (with the HTTP status), unreachable, or no answer within `timeout`
 * @throws PoolwrightError `ABORTED` when the signal fires, or the signal's own reason when that is a PoolwrightError
 */
export async function openSocket(address: string, { timeout, signal, sessionId }: OpenLimits): Promise<OpenSocket> {
  const url = parseAddress(address);
  if (!url) throw failed('', 'its cdpUrl is not a ws:// or wss:// URL', sessionId);
  const { origin } = url;
  if (signal?.aborted) throw aborted(signal, origin);
  const socket = new WebSocket(url.href, {
    // The longest string is about 512 MB. A screenshot or a download may be larger than what others take for a bound.
    maxPayload: constants.MAX_STRING_LENGTH,
    maxFragments: 0,
    maxBufferedChunks: 0,
    // Where the service takes it, what is large crosses the line small: Playwright's scripts are 345 kB.
    perMessageDeflate: { clientNoContextTakeover: true, serverNoContextTakeover: true, threshold: DEFLATED_BYTES },
    ...(url.authorization !== null && { headers: { authorization: url.authorization } }),
  });
  const handshake = watchHandshake(socket);

  const outcome = await firstOf(socket, timeout, signal);
  if (outcome === 'open') {
    const traffic = () => ({
      received: handshake.stream?.bytesRead ?? 0,
      sent: handshake.stream?.bytesWritten ?? 0,
      queued: socket.bufferedAmount,
    });
    return { socket, traffic, cut: () => socket.terminate() };
  }
  socket.terminate();
  if (outcome === 'closed') throw failed(` at ${origin}`, whyRefused(handshake), sessionId);
  if (signal !== undefined && outcome === 'aborted') throw aborted(signal, origin);
  throw failed(` at ${origin}`, `no answer within ${timeout} ms`, sessionId);
}

interface Address {
  /** Without credentials and fragment, which a WebSocket address may not have. */
  href: string;
  /** Scheme and host, fit to be shown. */
  origin: string;
  authorization: string | null;
}

/** Null for what is no WebSocket address. */
function parseAddress(address: string): Address | null {
  try {
    const url = new URL(address);
    if (url.protocol !== 'ws:' && url.protocol !== 'wss:') return null;
    const { username, password } = urlCredentials(url);
    const credentials = `${username}:${password}`;
    url.username = '';
    url.password = '';
    url.hash = '';
    return {
      href: url.href,
      origin: `${url.protocol}//${url.host}`,
      authorization: credentials === ':' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`,
    };
  } catch {
    return null;
  }
}

/** Waits, within its limits, for the socket to open or fail. */
function firstOf(
  socket: WebSocket,
  timeout: number,
  signal: AbortSignal | undefined,
): Promise<'open' | 'closed' | 'aborted' | 'timeout'> {
  return new Promise((resolve) => {
    const settle = (outcome: 'open' | 'closed' | 'aborted' | 'timeout') => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      resolve(outcome);
    };
    const abort = () => settle('aborted');
    const timer = setTimeout(() => settle('timeout'), timeout);
    signal?.addEventListener('abort', abort, { once: true });
    const opened = () => {
      // The first message may have come with the answer to the handshake.
      socket.pause();
      settle('open');
    };
    socket.addEventListener('open', opened, { once: true });
    socket.addEventListener('close', () => settle('closed'), { once: true });
  });
}

/** What is known of a WebSocket's handshake. */
interface Handshake {
  /** HTTP status of an answer that refused. */
  status?: number;
  /** What kept it from succeeding. May hold the address. */
  error?: Error;
  /** The connection itself, once upgraded. */
  stream?: Socket;
}

function watchHandshake(socket: WebSocket): Handshake {
  const handshake: Handshake = {};
  socket.once('upgrade', ({ socket: stream }) => {
    handshake.stream = stream;
  });
  socket.once('unexpected-response', (_request, { statusCode }) => {
    handshake.status = statusCode;
    socket.terminate();
  });
  // Also of an open link, which closes then.
  socket.on('error', (error) => {
    handshake.error ??= error;
  });
  return handshake;
}

function whyRefused({ status, error, stream }: Handshake): string {
  if (status !== undefined) return `the connection was refused with HTTP ${status}`;
  if (stream !== undefined) return 'the answer to the WebSocket handshake was not valid';
  const code: unknown = error !== undefined && 'code' in error ? error.code : undefined;
  // The code alone where there is one: what a message holds is up to whoever wrote it.
  if (typeof code === 'string') return code;
  return error === undefined ? 'the connection was refused' : redactText(error.message);
}

function failed(where: string, reason: string, sessionId: string | undefined): LeaseError {
  const whose = sessionId === undefined ? '' : ` of session ${sessionId}`;
  return new LeaseError('CONNECT_FAILED', `Could not connect to the browser${whose}${where}: ${reason}.`, {
    sessionId,
  });
}

function aborted(signal: AbortSignal, origin: string): PoolwrightError {
  const reason: unknown = signal.reason;
  if (reason instanceof PoolwrightError) return reason;
  return new PoolwrightError('ABORTED', `Connecting to the browser at ${origin} was cancelled.`, { cause: reason });
}
