import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { OptionsError } from '../../errors.ts';
import { boundedSend } from '../sockets/bounded-send.ts';
import { closeReply } from './close-reply.ts';

/** Ends each message on a pipe of the Chrome DevTools Protocol. */
const END = '\0';
const [INPUT, OUTPUT] = [3, 4];

/** Resolves when the tool has closed its pipe or the browser. @throws OptionsError when there is no pipe */
export async function servePipe(socket: WebSocket): Promise<void> {
  for (const fd of [INPUT, OUTPUT])
    if (!isOpen(fd))
      throw new OptionsError(
        '--remote-debugging-pipe',
        `\`--remote-debugging-pipe\`: file descriptors ${INPUT} and ${OUTPUT} must be open.`,
      );
  const input = new Socket({ fd: INPUT, readable: true, writable: false });
  const output = new Socket({ fd: OUTPUT, readable: false, writable: true });
  output.on('drain', () => socket.resume());
  socket.on('message', (data) => {
    if (!output.write(`${String(data)}${END}`)) socket.pause();
  });
  socket.resume();
  const send = boundedSend(socket, input);
  await new Promise<void>((resolve) => {
    for (const pipe of [input, output]) pipe.on('error', () => resolve());
    input.on('end', resolve);
    let parts: string[] = [];
    input.setEncoding('utf8');
    input.on('data', (text: string) => {
      const [first = '', ...rest] = text.split(END);
      parts.push(first);
      for (const part of rest) {
        const message = parts.join('');
        parts = [part];
        const reply = closeReply(message);
        if (reply === null) send(message);
        else output.write(`${reply}${END}`, () => resolve());
      }
    });
  });
}

function isOpen(fd: number): boolean {
  try {
    fstatSync(fd);
    return true;
  } catch {
    return false;
  }
}
