import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium } from '@playwright/test';
import { Savings } from '../../../src/cdp/figures.ts';
import type { openTransport } from '../../../src/cdp/pipeline.ts';
import { Screencast } from '../../../src/cdp/screencast/screencast.ts';
import type { CdpTransport } from '../../../src/cdp/transport/transport.ts';
import { test as base, expect } from './fixtures.ts';
import { Album } from './pictures.ts';

/** A message that Playwright sends or receives, in order. */
export interface SeenMessage {
  by: 'playwright' | 'browser';
  id?: number;
  sessionId?: string;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: unknown;
}

/** A remote browser, and Playwright on a transport to it. */
export interface Way {
  name: 'plain' | 'ahead';
  browser: Browser;
  savings: Savings;
  seen: SeenMessage[];
}

interface TwoWays {
  /**
   * Address of a page with a button that shows a greeting; with `/late-root?x`, the root element arrives after a
   * request for `/root?x`.
   */
  greeting: string;
  /** Round-trip time to the browser, in ms. */
  roundTrip: number;
  /** An option: whether pictures are taken of the pages of the second browser. */
  filmed: boolean;
  /** Runs the same on two equally distant browsers: plain, and with everything sent ahead that can be. */
  bothWays: <T>(run: (way: Way) => Promise<T>) => Promise<{ plain: T; ahead: T }>;
}

/** The icon is set so that the browser requests none. */
const GREETING = `<!doctype html><link rel="icon" href="data:,"><title>greeting</title>
<button onclick="out.textContent = 'Hi'">Greet</button><p id="out"></p>`;
/** A document that exists before its root element does. */
const BEFORE_THE_ROOT = `<!doctype html><!-- ${'-'.repeat(2_000)} -->`;

export const test = base.extend<TwoWays>({
  roundTrip: [10, { option: true }],

  filmed: [false, { option: true }],

  greeting: async ({}, use) => {
    const { url, close } = await startGreeting();
    await use(url);
    close();
  },

  bothWays: async ({ start, open, roundTrip, filmed }, use) => {
    const { api } = await start({ allowLoopback: true, rtt: roundTrip });
    const go = async <T>(name: Way['name'], run: (way: Way) => Promise<T>): Promise<T> => {
      const album = new Album();
      const screencast = new Screencast();
      if (filmed && name === 'ahead') screencast.start(album);
      const way = await connectWay(name, (await api.create()).body.cdpUrl, (url, options) =>
        open(url, { ...options, screencast }),
      );
      const result = await run(way);
      expect(album.pictures.length > 0).toBe(filmed && name === 'ahead');
      await way.browser.close();
      return result;
    };
    await use(async (run) => {
      const [plain, ahead] = [await go('plain', run), await go('ahead', run)];
      return { plain, ahead };
    });
  },
});

export { expect } from './fixtures.ts';

/** The page of {@link TwoWays.greeting}. */
export async function startGreeting(): Promise<{ url: string; close: () => void }> {
  const late = new Map<string, ServerResponse>();
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '', 'http://localhost');
    response.setHeader('content-type', 'text/html');
    if (pathname === '/root') late.get(search)?.end(GREETING);
    if (pathname !== '/late-root') return void response.end(GREETING);
    late.set(search, response);
    response.write(BEFORE_THE_ROOT);
  });
  server.listen(0);
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** Connects Playwright through a transport to this browser. */
export async function connectWay(name: Way['name'], cdpUrl: string, open: typeof openTransport): Promise<Way> {
  const savings = new Savings(1);
  const seen: SeenMessage[] = [];
  const transport = await open(cdpUrl, name === 'ahead' ? { ahead: true, sharesBrowser: true, savings } : {});
  return { name, browser: await chromium.connectOverCDP(recorded(transport, seen)), savings, seen };
}

function recorded(transport: CdpTransport, seen: SeenMessage[]) {
  const recorder = {
    onmessage: undefined as ((message: object) => void) | undefined,
    onclose: undefined as ((reason?: string) => void) | undefined,
    send: (message: object) => {
      seen.push({ by: 'playwright', ...message });
      transport.send(message);
    },
    close: () => transport.close(),
  };
  transport.onmessage = (message) => {
    seen.push({ by: 'browser', ...message });
    recorder.onmessage?.(message);
  };
  transport.onclose = (reason) => recorder.onclose?.(reason);
  return recorder;
}

/** Fields with different values each time. */
const VARIES =
  /time|^scriptId$|^identifier$|^requestId$|^connectionId$|^windowId$|^executionContextId$|^contextId$|port$|^encodedDataLength$/i;
/** Events of drawing or of an idle network: they are not responses to commands. */
const DRAWN = new Set(['networkAlmostIdle', 'networkIdle', 'firstPaint', 'firstContentfulPaint', 'InteractiveTime']);

/** Returns the messages without values that differ each time: IDs, times. */
export function comparable(seen: readonly SeenMessage[]) {
  const sessions: string[] = [];
  const nameOf = (sessionId = '') => {
    if (!sessions.includes(sessionId)) sessions.push(sessionId);
    return `session ${sessions.indexOf(sessionId)}`;
  };
  const commands: string[] = [];
  const answers = new Map<number, string>();
  const events: Record<string, string[]> = {};
  for (const { by, id, method, params, result, error, sessionId } of seen) {
    const session = nameOf(sessionId);
    // When a handle is released depends on Playwright's garbage collection.
    if (by === 'playwright' && method !== 'Runtime.releaseObject')
      commands.push(`${session} ${id} ${method} ${plain(params)}`);
    else if (by === 'browser' && id !== undefined) {
      if (answers.has(id)) throw new Error(`${id} was answered twice`);
      answers.set(id, plain(result ?? error));
    } else if (by === 'browser' && method !== undefined && isTimely(method, params)) {
      events[session] ??= [];
      // Some events of a new page's initial blank document occur or not, as soon as it runs.
      if (method === 'Page.frameNavigated') events[session].splice(0);
      events[session].push(`${method} ${plain(params)}`);
    }
  }
  // Messages of different sessions are independent of each other.
  const ofEach = sessions.map((sessionId) => commands.filter((command) => command.startsWith(`${nameOf(sessionId)} `)));
  // Playwright detaches from targets that are not its pages as soon as it learns of them, at any time.
  const isOfLettingGo = (text: string) => /\bTarget\.detach(?:ed)?FromTarget /.test(text);
  const lettingGoLast = (all: string[]) => [
    ...all.filter((each) => !isOfLettingGo(each)),
    ...all.filter(isOfLettingGo),
  ];
  const inOrder = ofEach.flatMap(lettingGoLast);
  const numbers = inOrder.map((command) => Number(command.split(' ')[2]));
  return {
    commands: inOrder.map((command) => command.replace(/^(session \d+) \d+/, '$1')),
    answers: numbers.map((id) => answers.get(id)),
    events: Object.fromEntries(Object.entries(events).map(([session, all]) => [session, lettingGoLast(all)])),
  };
}

function isTimely(method: string, params: unknown): boolean {
  // Playwright does not listen to it.
  if (method === 'Inspector.detached') return false;
  // Parts of a window arrive in any order.
  if (plain(params).includes('"type":"browser_ui"')) return false;
  if (method !== 'Page.lifecycleEvent') return /^(?:Page|Runtime|Target|Browser|Inspector|Log)\./.test(method);
  const { name = '' } = params as { name?: string };
  return !DRAWN.has(name) && !name.startsWith('firstMeaningful');
}

function plain(value: unknown): string {
  const text = JSON.stringify(value ?? {}, (field, inner) => (VARIES.test(field) ? undefined : inner));
  return text
    .replaceAll(/playwright-artifacts-\w+/g, '<directory>')
    .replaceAll(/-?\d{9,}\.-?\d+(?:\.\d+)?/g, '<object>')
    .replaceAll(/[\dA-Fa-f]{8,}(?:-[\dA-Fa-f]+)*/g, '<id>')
    .slice(0, 400);
}
