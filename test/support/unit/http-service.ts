import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { test as base, expect } from '@playwright/test';
import { type RetryInfo, ServiceClient, type ServiceClientOptions } from '../../../src/service/index.ts';

/** Looks like a key, but is invalid. */
export const API_KEY = 'pw-key-0123456789';

/** A request that the scripted service received. */
export interface Seen {
  method: string;
  path: string;
  query: Record<string, string>;
  authorization: string | undefined;
  contentType: string | undefined;
  body: unknown;
}

export type Handler = (request: Seen, response: ServerResponse) => void | Promise<void>;

/** A real HTTP server on loopback, whose responses are set by each test. */
export interface ScriptedService {
  readonly baseURL: string;
  readonly host: string;
  readonly seen: Seen[];
  /** `POST /v1/browser/session` and so on, in order of arrival. */
  readonly calls: string[];
  handle(handler: Handler): void;
  /** One handler per request. The last one handles all further requests. */
  script(...handlers: Handler[]): void;
  stop(): Promise<void>;
}

/** A client that records its waits instead of waiting. */
export interface RecordingClient {
  client: ServiceClient;
  delays: number[];
  retries: RetryInfo[];
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Handler {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

export function text(status: number, body: string, headers: Record<string, string> = {}): Handler {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body);
  };
}

/** Drops the connection without a response. */
export const hangUp: Handler = (_request, response) => {
  response.socket?.destroy();
};

/** Drops the connection in the middle of the response. */
export function cutShort(status: number, body: string): Handler {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': String(body.length + 50) });
    response.write(body, () => response.socket?.destroy());
  };
}

/** Never responds. */
export const silence: Handler = () => undefined;

export const sessionBody = (sessionId: string, more: Record<string, unknown> = {}) => ({
  sessionId,
  status: 'active',
  servedBy: 'node-1',
  createdAt: new Date().toISOString(),
  stoppedAt: null,
  cdpUrl: `wss://node-1.example.test/cdp/${sessionId}?token=cdp-token-123`,
  note: null,
  ...more,
});

export const poolBody = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  name: `name of ${id}`,
  size: 2,
  status: 'ready',
  ready: 2,
  starting: 0,
  leased: 0,
  browser: {},
  leaseTimeoutSeconds: 900,
  maxReadyAgeSeconds: 3600,
  lastError: '',
  createdAt: '2030-01-01T00:00:00Z',
  updatedAt: '2030-01-01T00:00:00Z',
  ...more,
});

/** A form as it arrived, in Latin-1. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  const body = await buffer(request);
  if (request.headers['content-type']?.startsWith('multipart/')) return body.toString('latin1');
  return body.length === 0 ? undefined : JSON.parse(body.toString());
}

async function startService(): Promise<ScriptedService> {
  let handler: Handler = json(500, { error: 'no script' });
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://service.test');
    const { authorization } = request.headers;
    const each: Seen = {
      method: request.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      authorization,
      contentType: request.headers['content-type'],
      body: await readBody(request),
    };
    seen.push(each);
    await handler(each, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const handle = (next: Handler) => {
    handler = next;
  };
  return {
    baseURL: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    seen,
    get calls() {
      return seen.map(({ method, path }) => `${method} ${path}`);
    },
    handle,
    script(...handlers) {
      let next = 0;
      handle((request, response) => {
        const each = handlers[Math.min(next, handlers.length - 1)];
        next += 1;
        return each?.(request, response);
      });
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Fixtures {
  service: ScriptedService;
  /** Creates clients of `service`, and closes them after the test. */
  connect: (options?: Partial<ServiceClientOptions>) => RecordingClient;
}

export const test = base.extend<Fixtures>({
  service: async ({}, use) => {
    const service = await startService();
    await use(service);
    await service.stop();
  },
  connect: async ({ service }, use) => {
    const clients: ServiceClient[] = [];
    await use((options) => {
      const delays: number[] = [];
      const retries: RetryInfo[] = [];
      const client = new ServiceClient({
        baseURL: service.baseURL,
        apiKey: API_KEY,
        random: () => 0,
        sleep: async (ms) => {
          delays.push(ms);
        },
        onRetry: (info) => retries.push(info),
        ...options,
      });
      clients.push(client);
      return { client, delays, retries };
    });
    // Pending requests are dropped together with the server's connections.
    await service.stop();
    await Promise.all(clients.map((client) => client.close()));
  },
});

export { expect };

/** Returns the error that `call` throws. */
export async function failureOf<E extends Error>(
  call: Promise<unknown>,
  kind: abstract new (...args: never[]) => E,
): Promise<E> {
  const error = await call.then(
    (value) => new Error(`did not throw, but responded with ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof kind)) throw error;
  return error;
}

/** The parts of an error that a log or report may show. */
export function everythingOf(error: Error): string {
  return [error.message, error.stack, JSON.stringify(error), inspect(error, { depth: 10, showHidden: true })].join(
    '\n',
  );
}
