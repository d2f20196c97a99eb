import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A process that answers as the service does, at once and without browsers, so that what is measured is the broker. It
 * prints its address as one line of JSON and ends when its standard input does.
 */

const sessions = new Map<string, { note: string | null }>();
let created = 0;

function create(body: { note?: string }) {
  const sessionId = `session-${++created}`;
  sessions.set(sessionId, { note: body.note ?? null });
  return shown(sessionId);
}

function shown(sessionId: string) {
  const session = sessions.get(sessionId);
  return {
    sessionId,
    status: session ? 'active' : 'completed',
    servedBy: 'bench',
    cdpUrl: `ws://127.0.0.1:9/${sessionId}`,
    createdAt: new Date().toISOString(),
    note: session?.note ?? null,
    bandwidthBytes: 0,
  };
}

function answer(method: string, url: URL, body: { note?: string }): object | null {
  const sessionId = url.searchParams.get('sessionId') ?? '';
  if (url.pathname === '/v1/browser/session') {
    if (method === 'POST') return create(body);
    if (method === 'PATCH') sessions.set(sessionId, { note: body.note ?? null });
    if (method !== 'DELETE') return shown(sessionId);
    sessions.delete(sessionId);
    return { success: true };
  }
  if (url.pathname === '/v1/browser/sessions') return { sessions: [...sessions.keys()].slice(0, 100).map(shown) };
  if (url.pathname === '/v1/account/balance') return { balance_cents: 1_000_000 };
  if (url.pathname === '/v1/account/billing') return { plan: { concurrent_browsers: 1_000_000 } };
  return null;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const server = createServer(async (request, response) => {
  const text = await textOf(request);
  const given = answer(request.method ?? '', new URL(request.url ?? '/', 'http://service'), JSON.parse(text || '{}'));
  response.writeHead(given ? 200 : 404, { 'content-type': 'application/json' });
  response.end(JSON.stringify(given ?? { error: 'not found' }));
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ baseURL: `http://127.0.0.1:${port}` })}\n`);
});
process.stdin.resume().once('end', () => process.exit());
