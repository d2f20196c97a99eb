import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A request that a server in this process has answered. */
export interface Answered {
  method: string;
  /** Without the query. */
  path: string;
  status: number;
  /** In ms, since this process began. */
  at: number;
}

/** Records every request that the servers in this process answer (those of an emulator started here). */
export function recordRequests(): { answered: Answered[]; stop(): void } {
  const answered: Answered[] = [];
  const onFinish = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const [path = ''] = (request.url ?? '').split('?');
    answered.push({ method: request.method ?? '', path, status: response.statusCode, at: performance.now() });
  };
  subscribe('http.server.response.finish', onFinish);
  return { answered, stop: () => void unsubscribe('http.server.response.finish', onFinish) };
}
