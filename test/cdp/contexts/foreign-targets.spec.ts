import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BrowserHealth } from '../../../src/cdp/contexts/browser-health.ts';
import type { CdpMessage } from '../../../src/cdp/message.ts';
import { expect, test } from '../../support/cdp/fixtures.ts';
import { RawLink } from '../../support/emulator/raw-link.ts';

/** Chromium keeps a service worker whose context is disposed while it starts: a target without a context. */

test.use({ ownBrowser: true });

/** How many contexts are disposed at most. About every fifth leaves its worker for a while. */
const ATTEMPTS = 100;
const SLOW_WORKER = `
  const since = Date.now();
  while (Date.now() - since < 300);
  oninstall = (event) => event.waitUntil(new Promise(() => undefined));
  onfetch = () => undefined;`;
const PAGE = "<script>navigator.serviceWorker.register('/worker.js')</script>";
const ATTACH = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true };

interface Info {
  type: string;
  browserContextId?: string;
}
type Announcement = Pick<CdpMessage, 'method' | 'params'>;

const isForeign = ({ type, browserContextId }: Info) => type !== 'browser' && browserContextId === undefined;
const announced = (messages: readonly Announcement[]): Info[] =>
  messages.flatMap(({ params }) => (params as { targetInfo?: Info } | undefined)?.targetInfo ?? []);

test('a service worker that outlives its context is hidden, and gone before the browser is lent again', async ({
  cdpUrl,
  open,
}) => {
  const server = createServer(({ url }, response) => {
    const [type, body] = url === '/worker.js' ? ['text/javascript', SLOW_WORKER] : ['text/html', PAGE];
    response.setHeader('content-type', type).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

  const health = new BrowserHealth();
  const transport = await open(cdpUrl, { health });
  const messages: Announcement[] = [];
  transport.onmessage = (message) => messages.push(message);
  transport.send({ id: 1, method: 'Target.setDiscoverTargets', params: { discover: true } });
  transport.send({ id: 2, method: 'Target.setAutoAttach', params: ATTACH });

  const link = await RawLink.open(cdpUrl);
  const foreign = async (): Promise<Info[]> => (await link.send('Target.getTargets')).targetInfos.filter(isForeign);
  let found: Info[] = [];
  for (let attempt = 0; attempt < ATTEMPTS && found.length === 0; attempt += 1) {
    const other = await RawLink.open(cdpUrl);
    await other.send('Target.setAutoAttach', ATTACH);
    const { browserContextId } = await link.send('Target.createBrowserContext');
    await link.send('Target.createTarget', { url, browserContextId });
    await expect.poll(() => announced(other.events).some(({ type }) => type === 'service_worker')).toBe(true);
    // The right moment is somewhere in the start of the worker.
    for (let trips = 0; trips < (attempt % 10) * 100; trips += 1) await link.send('Browser.getVersion');
    await link.send('Target.disposeBrowserContext', { browserContextId });
    found = await foreign();
    other.close();
  }
  expect(found.map(({ type }) => type)).toContain('service_worker');
  // Chromium closes some of them. A browser that keeps one is ended.
  const reason = await health.clean();
  expect([reason, await foreign()]).toEqual(
    reason === null ? [null, []] : [expect.stringMatching(/within \d s: service_worker$/), expect.anything()],
  );
  expect(announced(messages).filter(({ type }) => type === 'service_worker')).toEqual([]);
  link.close();
  server.closeAllConnections();
  server.close();
});
