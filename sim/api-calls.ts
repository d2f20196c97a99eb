import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What the emulator of this process was asked, counted by kind of call. */
export interface ApiCalls {
  /** Every answered request. */
  total: number;
  byKind: Record<string, number>;
  /** Creates and acquires that were refused because the limit was reached. */
  overLimit: number;
  /** Most browsers that were leased at the same time. */
  mostAtOnce: number;
  stop(): void;
}

/** Counts from now on. */
export function countApiCalls(): ApiCalls {
  const calls: ApiCalls = { total: 0, byKind: {}, overLimit: 0, mostAtOnce: 0, stop: () => undefined };
  let leased = 0;
  const onFinish = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const kind = kindOf(request.method ?? '', (request.url ?? '').split('?')[0] ?? '');
    calls.total += 1;
    calls.byKind[kind] = (calls.byKind[kind] ?? 0) + 1;
    if (response.statusCode === 403) calls.overLimit += 1;
    if (response.statusCode !== 200) return;
    if (kind === 'create' || kind === 'acquire') leased += 1;
    if (kind === 'stop' || kind === 'release') leased -= 1;
    calls.mostAtOnce = Math.max(calls.mostAtOnce, leased);
  };
  subscribe('http.server.response.finish', onFinish);
  calls.stop = () => void unsubscribe('http.server.response.finish', onFinish);
  return calls;
}

function kindOf(method: string, path: string): string {
  if (path.endsWith('/acquire')) return 'acquire';
  if (path.endsWith('/release')) return 'release';
  if (path === '/v1/browser/sessions') return 'list';
  if (path === '/v1/browser/session') return { POST: 'create', DELETE: 'stop', PATCH: 'note' }[method] ?? 'get';
  return 'other';
}
