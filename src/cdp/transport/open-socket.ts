import { constants } from 'node:buffer';
import type { LookupFunction, Socket } from 'node:net';
import { WebSocket } from 'ws';
import { connectionThrough, type Destination } from '../../common/dial/dial.ts';
import { environmentProxy, ProxyError } from '../../common/dial/environment-proxy.ts';
import { within } from '../../common/pause.ts';
import { writeTogether } from '../../common/platform/streams.ts';
import { urlCredentials } from '../../common/url/credentials.ts';
import { isLoopbackHost } from '../../common/url/loopback.ts';
import { LeaseError } from '../../errors.ts';
import { redactText } from '../../redact.ts';

/** What to do where a proxy connects to the host, and the browser does not respond. */
const NOT_PASSED = 'If this proxy does not pass WebSockets on, list the host in NO_PROXY';

/** Traffic of a connection since it opened, in bytes. */
export interface SocketTraffic {
  received: number;
  sent: number;
  /** The part of `sent` in messages that have not left this process completely. */
  queued: number;
}

/**
 * Large messages are compressed where the service supports it: Playwright's scripts are 345 kB. Not on this machine:
 * Chromium would compress every message, however small, and each would wait for another thread here.
 */
const DEFLATE = { clientNoContextTakeover: true, serverNoContextTakeover: true, threshold: 10 * 1024 };

/**
 * Masks keep a proxy from taking a web page's bytes for HTTP (RFC 6455, section 10.3). Where no proxy sees the bytes,
 * a mask of zeros saves a pass over each message, and a copy of it.
 */
const noMask = (mask: Buffer) => void mask.fill(0);

/**
 * An open WebSocket and the traffic of its TCP connection, which the watchdog uses to tell a slow connection from a
 * dead one.
 */
export interface OpenSocket {
  /** Paused: resume it after adding listeners, so that no message is lost. */
  readonly socket: WebSocket;
  /** Sends a message. What one task sends leaves together. */
  send(text: string): void;
  traffic(): SocketTraffic;
  /** Closes the connection without a closing handshake. */
  cut(): void;
}

export interface OpenLimits {
  /** ms */
  timeout: number;
  /** The session that the browser belongs to, for errors. */
  sessionId?: string | undefined;
  /** Sent with the handshake. Secrets. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Resolves the host. Default: the system does. */
  lookup?: LookupFunction | undefined;
}

/**
 * Opens a WebSocket to a `ws:` or `wss:` address. Address and headers are secrets: errors contain only the host.
 * @throws LeaseError `CONNECT_FAILED`: rejected (with the HTTP status), unreachable, or no response within `timeout`
 */
export async function openSocket(address: string, limits: OpenLimits): Promise<OpenSocket> {
  const { timeout, sessionId, lookup } = limits;
  const url = parseAddress(address);
  if (!url) throw failed('', 'its cdpUrl is not a ws:// or wss:// URL', sessionId);
  const { origin, server } = url;
  // With its own `lookup`, a relay decides which addresses it connects to: no proxy may look the host up for it.
  const proxy = lookup ? null : environmentProxy(url.href);
  const socket = new WebSocket(url.href, {
    // The longest string is about 512 MB. A screenshot or a download may exceed the usual limits.
    maxPayload: constants.MAX_STRING_LENGTH,
    maxFragments: 0,
    maxBufferedChunks: 0,
    perMessageDeflate: url.isHere ? false : DEFLATE,
    ...((url.isHere || url.server.isSecure) && { generateMask: noMask }),
    ...(lookup && { lookup }),
    ...(proxy && { createConnection: connectionThrough(proxy.dial, server) }),
    headers: { ...(url.authorization !== null && { authorization: url.authorization }), ...limits.headers },
  });
  const handshake = watchHandshake(socket);

  const outcome = await firstOf(socket, timeout);
  if (outcome === 'open') {
    const traffic = () => ({
      received: handshake.stream?.bytesRead ?? 0,
      sent: handshake.stream?.bytesWritten ?? 0,
      queued: socket.bufferedAmount,
    });
    const send = (text: string) => {
      if (handshake.stream) writeTogether(handshake.stream);
      socket.send(text);
    };
    return { socket, send, traffic, cut: () => socket.terminate() };
  }
  socket.terminate();
  const reason = outcome === 'closed' ? whyRefused(handshake) : `no response within ${timeout} ms`;
  // Its error names it.
  if (!proxy || handshake.error instanceof ProxyError) throw failed(` at ${origin}`, reason, sessionId);
  throw failed(` at ${origin} through the proxy ${proxy.name}`, `${reason}. ${NOT_PASSED}`, sessionId);
}

interface Address {
  /** Without credentials and fragment, which a WebSocket address must not have. */
  href: string;
  /** Scheme and host, safe to show. */
  origin: string;
  authorization: string | null;
  /** Whether the host is this machine. */
  isHere: boolean;
  server: Destination;
}

/** Null if it is not a WebSocket address. */
function parseAddress(address: string): Address | null {
  try {
    const url = new URL(address);
    if (url.protocol !== 'ws:' && url.protocol !== 'wss:') return null;
    const { username, password } = urlCredentials(url);
    const credentials = `${username}:${password}`;
    url.username = '';
    url.password = '';
    url.hash = '';
    const isSecure = url.protocol === 'wss:';
    return {
      href: url.href,
      origin: `${url.protocol}//${url.host}`,
      authorization: credentials === ':' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`,
      isHere: isLoopbackHost(url.hostname),
      server: {
        hostname: url.hostname,
        port: Number(url.port) || (isSecure ? 443 : 80),
        isSecure,
        rejectUnauthorized: true,
      },
    };
  } catch {
    return null;
  }
}

/** Waits, within its limits, for the socket to open or fail. */
async function firstOf(socket: WebSocket, timeout: number): Promise<'open' | 'closed' | 'timeout'> {
  const first = new Promise<'open' | 'closed'>((resolve) => {
    const opened = () => {
      // The first message may arrive together with the handshake response.
      socket.pause();
      resolve('open');
    };
    socket.addEventListener('open', opened, { once: true });
    socket.addEventListener('close', () => resolve('closed'), { once: true });
  });
  return await within(first, timeout, 'timeout');
}

/** State of a WebSocket's handshake. */
interface Handshake {
  /** HTTP status of the response that rejected it. */
  status?: number;
  /** Why it failed. May contain the address. */
  error?: Error;
  /** The TCP connection, once upgraded. */
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
  // An open connection may fail, too; it closes then.
  socket.on('error', (error) => {
    handshake.error ??= error;
  });
  return handshake;
}

function whyRefused({ status, error, stream }: Handshake): string {
  if (status !== undefined) return `the connection was refused with HTTP ${status}`;
  if (stream !== undefined) return 'the response to the WebSocket handshake was not valid';
  const code: unknown = error !== undefined && 'code' in error ? error.code : undefined;
  // Only the code if there is one: an error message may contain anything.
  if (typeof code === 'string') return code;
  return error === undefined ? 'the connection was refused' : redactText(error.message);
}

function failed(where: string, reason: string, sessionId: string | undefined): LeaseError {
  const whose = sessionId === undefined ? '' : ` of session ${sessionId}`;
  return new LeaseError('CONNECT_FAILED', `Could not connect to the browser${whose}${where}: ${reason}.`, {
    sessionId,
  });
}
