#!/usr/bin/env node
import { version } from 'poolwright/package.json';
import type { WebSocket } from 'ws';
import { fieldsOf } from '../../cdp/message.ts';
import { errorMessage } from '../../common/error-message.ts';
import { notify } from '../../common/text/notify.ts';
import { redactText } from '../../redact.ts';
import { type BrowserArguments, browserArguments } from './browser-arguments.ts';
import { EndpointClient } from './endpoint-client.ts';
import { servePipe } from './pipe.ts';
import { openDebuggingPort } from './port.ts';

/**
 * The program `poolwright-browser`: behaves as Chromium does to tools that start it, and is a hosted browser. Its life
 * is its lease: whatever ends this process closes its connection, and that gives the browser back.
 */

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
  const { startOwnEndpoint } = await import('../own-endpoint.ts');
  const { url, stop } = await startOwnEndpoint();
  end = stop;
  return url;
}
