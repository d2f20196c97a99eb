#!/usr/bin/env node
import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import { version } from 'poolwright/package.json';
import type { WebSocket } from 'ws';
import { fieldsOf } from '../../cdp/message.ts';
import { errorMessage } from '../../common/error-message.ts';
import { notify } from '../../common/text/notify.ts';
import { OptionsError } from '../../errors.ts';
import { redactText } from '../../redact.ts';
import { boundedSend } from '../sockets/web-socket.ts';
import { type BrowserArguments, browserArguments } from './browser-arguments.ts';
import { closeReply, EndpointClient } from './endpoint-client.ts';
import { openDebuggingPort } from './port.ts';

/**
 * The program `poolwright-browser`: behaves as Chromium does to tools that start it, and is a hosted browser. Its life
 * is its lease: whatever ends this process closes its connection, and that gives the browser back.
 */

/** Ends each message on a pipe of the Chrome DevTools Protocol. */
const END = '\0';
const [INPUT, OUTPUT] = [3, 4];
const NAME = `poolwright-browser/${version}`;

let end = async () => undefined as unknown;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => void end().finally(() => process.exit(0)));
}
// The tool may have closed them.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

try {
  await run(browserArguments(process.argv.slice(2)));
  await end();
  process.exit(0);
} catch (error) {
  notify(redactText(errorMessage(error)));
  await end();
  process.exit(1);
}

/** Resolves when the browser is closed. @throws PoolwrightError */
async function run(args: BrowserArguments): Promise<void> {
  if (process.env.POOLWRIGHT_DEBUG && args.ignored.length > 0) {
    notify(`flags without effect on a hosted browser: ${args.ignored.map((name) => `--${name}`).join(' ')}`);
  }
  const endpoint = new EndpointClient(process.env.POOLWRIGHT_ENDPOINT || (await ownEndpoint()));
  const { open, pipe, port } = args;
  const pages: Record<string, string> = open === null ? { pages: 'hidden' } : { open };
  const overPipe = async () => {
    const socket = await endpoint.connect(`devtools/browser/${endpoint.id}`, `${NAME} (pipe)`, pages);
    await Promise.race([servePipe(socket), closeOf(socket)]);
  };
  if (pipe && port === null) return await overPipe();
  const lease = await endpoint.connect(`lease/${endpoint.id}`, `${NAME} (port)`, pages);
  const gone = closeOf(lease);
  lease.resume();
  const { status, body } = await Promise.race([
    endpoint.ask('json/version'),
    gone.then(() => ({ status: 0, body: '' })),
  ]);
  // The reason is that of the connection.
  if (status !== 200) return await gone;
  if (args.asksVersion) {
    const product = String(fieldsOf<{ Browser: string }>(JSON.parse(body)).Browser);
    process.stdout.write(`Chromium ${product.replace(/^.*\//, '')}\n`);
    return;
  }
  if (port === null) return await gone;
  const { closed } = await openDebuggingPort(endpoint, { port, userDataDir: args.userDataDir });
  // A tool that opens the port for others may use the pipe itself.
  await Promise.race([closed, gone, ...(pipe ? [overPipe()] : [])]);
}

/** Rejects when the endpoint closes a connection. */
function closeOf(socket: WebSocket): Promise<never> {
  const gone = new Promise<never>((_, reject) => {
    socket.on('close', (_code, reason) => reject(new Error(`The browser is gone. ${reason}`)));
  });
  gone.catch(() => undefined);
  return gone;
}

/** Without a command that has one, this process has its own. */
async function ownEndpoint(): Promise<string> {
  const { startOwnEndpoint } = await import('../with-endpoint.ts');
  const { url, stop } = await startOwnEndpoint();
  end = stop;
  return url;
}

/** Resolves when the tool has closed its pipe or the browser. @throws OptionsError when there is no pipe */
async function servePipe(socket: WebSocket): Promise<void> {
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
