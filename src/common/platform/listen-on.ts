import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OptionsError } from '../../errors.ts';

/**
 * Listens on an address that flags of a command name; returns the port.
 * @param port 0: any free one
 * @throws OptionsError that names `--port` or `--host`
 */
export async function listenOn(server: Server, { host, port }: { host: string; port: number }): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explained(error, host, port)));
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

function explained({ code, message }: NodeJS.ErrnoException, host: string, port: number): OptionsError {
  if (code === 'EADDRINUSE')
    return new OptionsError('--port', `Port ${port} of ${host} is in use: choose another one.`);
  if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL' || code === 'EAI_AGAIN') {
    return new OptionsError('--host', `\`--host ${host}\` is not an address of this machine (${code}).`);
  }
  return new OptionsError('--port', `Port ${port} of ${host} cannot be used: ${message}`);
}
