import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from '@playwright/test';
import { WebSocket } from 'ws';
import { type CdpMessage, parseMessage } from '../../../../../src/cdp/message.ts';
import { InterceptorList } from '../../../../../src/cdp/transport/interceptor-list.ts';
import { allOnFullChromium, localChromium } from '../../../local-chromium.ts';
import { interceptors } from '../interceptors.ts';
import { type Entry, type Names, written } from './recording.ts';
import { SCENARIOS } from './scenarios.ts';
import { Site } from './site.ts';

/**
 * Records the messages of each interceptor, alone between this Playwright and a real browser: `node
 * scripts/record-cdp.mjs [name…]`. The recordings are beside this file. Record again when an interceptor intentionally
 * changes its behaviour.
 */

const [directory, ...wanted] = process.argv.slice(2);
if (directory === undefined) throw new Error('the directory for the recordings is missing');

for (const name of wanted.length > 0 ? wanted : Object.keys(SCENARIOS)) {
  const lines = await record(name);
  await writeFile(join(directory, `${name}.jsonl`), `${lines.join('\n')}\n`);
  console.log(`${name}: ${lines.length} lines`);
}

async function record(name: string): Promise<string[]> {
  const site = new Site();
  const names: Names = { site: await site.listen(), directory: await mkdtemp(join(tmpdir(), 'poolwright-recorded-')) };
  const lines: string[] = [];
  const note = (entry: Entry) => {
    const [where, what] = entry;
    lines.push(JSON.stringify([where, typeof what === 'object' && what ? written(what, names) : what]));
  };
  const shell = await localChromium();
  // The headless shell has no back/forward cache.
  const { chromium: full = shell } = name === 'back-forward-cache' ? await allOnFullChromium() : {};
  const browser = await startChromium(full, join(names.directory, 'profile'));
  const socket = new WebSocket(browser.cdpUrl, { perMessageDeflate: false });
  await once(socket, 'open');
  const create = interceptors(names.site)[name];
  const run = SCENARIOS[name];
  if (!create || !run) throw new Error(`there is no interceptor ${name}`);
  let last: CdpMessage | undefined;
  const list = new InterceptorList([create], {
    toBrowser: (command) => {
      note(['to browser', command === last ? null : command]);
      socket.send(JSON.stringify(command));
    },
    toClient: (message) => {
      note(['to client', message === last ? null : message]);
      transport.onmessage?.(message);
    },
  });
  const transport = {
    onmessage: undefined as ((message: object) => void) | undefined,
    onclose: undefined as (() => void) | undefined,
    send: (command: CdpMessage) => {
      note(['client', command]);
      last = command;
      list.command(command);
    },
    close: () => socket.close(),
  };
  const deliver = (data: unknown) => {
    const message = parseMessage(String(data));
    if (!message) throw new Error('the browser does not speak CDP');
    note(['browser', message]);
    last = message;
    list.message(message);
  };
  socket.on('message', (data) => setImmediate(deliver, data));
  socket.on('close', () => transport.onclose?.());
  try {
    const connected = await chromium.connectOverCDP(transport);
    await run(connected, `http://${names.site}`, names.directory);
    note(['site sent', site.sent()]);
    await connected.close();
  } finally {
    await browser.close();
    await site.close();
    await rm(names.directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
  return lines;
}

async function startChromium(path: string, profile: string) {
  const child = spawn(
    path,
    [
      '--headless',
      '--remote-debugging-port=0',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-gpu',
      '--disable-features=LocalNetworkAccessChecks',
      `--user-data-dir=${profile}`,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  const exited = once(child, 'exit');
  const close = async () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await exited;
  };
  for await (const line of createInterface({ input: child.stderr })) {
    const [, cdpUrl] = /^DevTools listening on (ws:\S+)$/.exec(line) ?? [];
    if (cdpUrl === undefined) continue;
    child.stderr.resume();
    return { cdpUrl, close };
  }
  throw new Error('the browser ended before it listened');
}
