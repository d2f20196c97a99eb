import { execFile } from 'node:child_process';
import { constants, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type CdpMessage, parseMessage } from '../../cdp/message.ts';
import type { CdpTransport } from '../../cdp/transport/transport.ts';

/** Ends each message on a pipe of the Chrome DevTools Protocol. */
const END = '\0';
/** Neither waits for the other side, nor ends with it: both ends of a pipe of this process stay open. */
const OPEN = constants.O_RDWR | constants.O_NONBLOCK;

/**
 * Makes a transport look like a browser that Playwright launches: an executable that joins Playwright's pipes (file
 * descriptors 3 and 4) to two named pipes, and this process joins those to the transport. The executable ends with this
 * process, because its pipes do.
 * @param directory private, on this machine's disk
 * @returns the path of the executable
 */
export async function pipeBrowser(transport: CdpTransport, directory: string): Promise<string> {
  const [commands, messages] = [join(directory, 'commands'), join(directory, 'messages')];
  await promisify(execFile)('mkfifo', ['-m', '600', commands, messages]);
  // Not by the `fs` module: a pending read there occupies one of few threads.
  const input = new Socket({ fd: openPipe(commands), readable: true, writable: false });
  const output = new Socket({ fd: openPipe(messages), readable: false, writable: true });
  for (const pipe of [input, output]) pipe.on('error', () => transport.close());

  let rest = '';
  input.setEncoding('utf8');
  input.on('data', (text: string) => {
    // A long message arrives in many pieces.
    if (!text.includes(END)) {
      rest += text;
      return;
    }
    const parts = (rest + text).split(END);
    rest = parts.pop() ?? '';
    for (const part of parts) deliver(transport, parseMessage(part), reply);
  });
  const reply = (text: string) => void output.write(text + END);
  transport.onmessage = (message, text) => reply(text ?? JSON.stringify(message));

  const executable = join(directory, 'browser');
  const script = `#!/bin/sh\ncat <&3 >'${quoted(commands)}' &\nexec cat '${quoted(messages)}' >&4\n`;
  await writeFile(executable, script, { mode: 0o700 });
  return executable;
}

/** Playwright would close a browser that it has launched. A hosted browser ends when its lease is released. */
function deliver(transport: CdpTransport, command: CdpMessage | null, reply: (text: string) => void): void {
  if (command?.method === 'Browser.close') reply(JSON.stringify({ id: command.id, result: {} }));
  else if (command) transport.send(command);
}

function openPipe(path: string): number {
  return openSync(path, OPEN);
}

function quoted(path: string): string {
  return path.replaceAll("'", "'\\''");
}
