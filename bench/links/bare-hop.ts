import { type AddressInfo, connect, createServer } from 'node:net';

/**
 * A process that passes bytes on, both ways, and looks at none: what a relay could cost at the least. Its argument is
 * the port behind it; it prints its own as one line of JSON and ends when its standard input does.
 */

const behind = Number(process.argv[2]);
const server = createServer({ noDelay: true }, (client) => {
  const browser = connect({ port: behind, host: '127.0.0.1', noDelay: true });
  for (const [from, to] of [
    [client, browser],
    [browser, client],
  ] as const) {
    from.on('data', (chunk) => to.write(chunk));
    from.on('error', () => undefined);
    from.on('close', () => to.destroy());
  }
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
process.stdin.resume().once('end', () => process.exit());
