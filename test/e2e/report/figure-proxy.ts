import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A proxy in front of the service that replaces the bandwidth figures of running sessions (the emulator has none).
 * @param figure returns the figure of a running session, by the number of requests so far; null: no session has the
 * field
 */
export async function startFigureProxy(target: string, figure: ((asked: number) => number) | null) {
  const { host } = new URL(target);
  let asked = 0;
  const server = createServer((request, response) => {
    const { method, url = '', headers } = request;
    const passed = ask(`${target}${url}`, { method, headers: { ...headers, host } }, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk);
      let body = Buffer.concat(chunks);
      if (method === 'GET' && url.startsWith('/v1/browser/session?') && answer.statusCode === 200) {
        const { bandwidthBytes, ...session } = JSON.parse(body.toString());
        if (session.status === 'active') asked += 1;
        const told = session.status === 'active' ? figure?.(asked) : bandwidthBytes;
        body = Buffer.from(JSON.stringify(figure ? { ...session, bandwidthBytes: told } : session));
      }
      const { 'content-length': _, 'transfer-encoding': __, ...others } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, { ...others, 'content-length': body.length }).end(body);
    });
    passed.on('error', () => response.destroy());
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    /** Returns the number of requests for a running session. */
    asked: () => asked,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
