import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Firing } from './fault-list.ts';

/** Applies a fault to the handshake of a CDP link. Returns whether the handshake goes on. */
export async function spoilHandshake({ effect, id }: Firing, client: Duplex): Promise<boolean> {
  if (effect.delayMs) await delay(effect.delayMs, undefined, { ref: false });
  if (effect.hang) return false; // until the client gives up, or the relay closes it
  if (effect.reset || effect.loseAnswer) {
    if (client instanceof Socket) client.resetAndDestroy();
    return false;
  }
  if (effect.status === undefined) return !client.destroyed;
  const { body = `Fault ${id} of the emulator`, headers = {}, status } = effect;
  const content = typeof body === 'string' ? body : JSON.stringify(body);
  const lines = Object.entries({ Connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = Buffer.byteLength(content);
  client.end(`HTTP/1.1 ${status} Fault\r\nContent-Length: ${length}\r\n${lines.join('')}\r\n${content}`);
  return false;
}
