import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { LinkDirection } from '../../../src/emulator/cdp/link-direction.ts';

/** @returns the address of a browser as it is at a distance. @param roundTripMs the round-trip time to it */
export async function farAddress(cdpUrl: string, roundTripMs: number): Promise<string> {
  const { hostname: host, port } = new URL(cdpUrl);
  const server = createServer({ noDelay: true }, (client) => {
    const browser = connect({ port: Number(port), host, noDelay: true });
    const [up, down] = [
      new LinkDirection(client, browser, roundTripMs / 2),
      new LinkDirection(browser, client, roundTripMs / 2),
    ];
    for (const socket of [client, browser]) socket.on('error', () => undefined);
    client.once('close', () => up.after(() => browser.destroy()));
    browser.once('close', () => down.after(() => client.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const far = new URL(cdpUrl);
  far.port = String((server.address() as AddressInfo).port);
  return far.href;
}
