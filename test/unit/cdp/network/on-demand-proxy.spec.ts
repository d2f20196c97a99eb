import { expect, test } from '@playwright/test';
import type { CdpMessage } from '../../../../src/cdp/message.ts';
import { Network } from '../../../../src/cdp/network/network.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';
import { isOwnId } from '../../../../src/cdp/transport/own-commands.ts';

/** An on-demand proxy; the test plays both Playwright and the browser. */
function aLink() {
  const [toBrowser, toClient, visited]: [CdpMessage[], CdpMessage[], string[]] = [[], [], []];
  const list = new InterceptorList(
    [(link) => new Network(link, { auto: { onVisit: (origin) => visited.push(origin) } })],
    {
      toBrowser: (command) => {
        toBrowser.push(command);
        if (isOwnId(command.id) && command.method !== 'Page.navigate')
          queueMicrotask(() => list.message({ id: command.id ?? 0, result: {} }));
      },
      toClient: (message) => toClient.push(message),
    },
  );
  const attach = (sessionId: string, browserContextId: string) =>
    list.message({
      method: 'Target.attachedToTarget',
      params: {
        sessionId,
        targetInfo: { type: 'page', targetId: `target of ${sessionId}`, browserContextId, url: '' },
      },
    });
  const methods = (sessionId: string) =>
    toBrowser.filter((command) => command.sessionId === sessionId).map(({ method }) => method);
  return { list, toBrowser, toClient, visited, attach, methods };
}

const navigate = (id: number, sessionId: string, url: string) => ({
  id,
  sessionId,
  method: 'Page.navigate',
  params: { url, frameId: `target of ${sessionId}` },
});

test('sends the browser nothing until the test navigates to this machine', () => {
  const { list, toBrowser, toClient, visited, attach } = aLink();
  attach('s1', 'c1');
  const commands = [
    navigate(1, 's1', 'https://example.com/'),
    { id: 2, sessionId: 's1', method: 'Fetch.enable', params: { patterns: [{ urlPattern: '*' }] } },
    { id: 3, sessionId: 's1', method: 'Fetch.disable' },
    navigate(4, 'nobody', 'http://localhost:1/'),
  ];
  for (const command of commands) list.command(command);
  expect(toBrowser).toEqual(commands);
  const paused = { method: 'Fetch.requestPaused', sessionId: 's1', params: { requestId: 'r' } };
  list.message(paused);
  expect(toClient.at(-1)).toBe(paused);
  expect(visited).toEqual([]);
});

test("comes before the test's scripts, which may replace the same functions", async () => {
  const { list, toBrowser, attach } = aLink();
  attach('s1', 'c1');
  const add = (id: number, params: object) => ({
    id,
    sessionId: 's1',
    method: 'Page.addScriptToEvaluateOnNewDocument',
    params,
  });
  const scripts = () => toBrowser.filter(({ method }) => method === 'Page.addScriptToEvaluateOnNewDocument');
  // Playwright's own script, in its utility world.
  list.command(add(1, { source: '', worldName: 'utility' }));
  expect(scripts().map(({ id }) => id)).toEqual([1]);
  list.command(add(2, { source: 'globalThis.WebSocket = class {}' }));
  list.command(add(3, { source: 'globalThis.fetch = null' }));
  expect(scripts().map(({ id }) => !isOwnId(id) && id)).toEqual([1, false, 2, 3]);
  // The visit adds the hosts, but installs nothing again.
  list.command(navigate(4, 's1', 'http://localhost:4173/a'));
  await expect.poll(() => toBrowser.at(-1)?.method).toBe('Page.navigate');
  expect(scripts().map(({ id }) => !isOwnId(id) && id)).toEqual([1, false, 2, 3, false]);
  expect(JSON.stringify(scripts().at(-1)?.params)).toContain('localhost');
});

test('configures the browser first, in that context only, and continues the navigation with its own ID', async () => {
  const { list, toBrowser, toClient, visited, attach, methods } = aLink();
  attach('s1', 'c1');
  attach('s2', 'c1');
  attach('other', 'c2');
  list.command(navigate(7, 's1', 'http://localhost:4173/a'));
  expect(toBrowser).toEqual([]);
  await expect.poll(() => methods('s1').at(-1)).toBe('Page.navigate');
  expect(visited).toEqual(['http://localhost:4173']);
  // The other page of the context may navigate there, too: once it navigates, it takes no commands.
  for (const sessionId of ['s1', 's2']) {
    expect(methods(sessionId).filter((method) => /addBinding|addScript|Fetch/.test(method ?? ''))).toEqual([
      'Fetch.enable',
      'Runtime.addBinding',
      'Page.addScriptToEvaluateOnNewDocument',
      'Page.addScriptToEvaluateOnNewDocument',
    ]);
  }
  expect(methods('other')).toEqual([]);
  const sent = toBrowser.find(({ method }) => method === 'Page.navigate');
  list.message({ id: sent?.id ?? 0, sessionId: 's1', result: { loaderId: 'l' } });
  expect(toClient.at(-1)).toEqual({ id: 7, sessionId: 's1', result: { loaderId: 'l' } });
  // Later navigations pass at once, and a new page is configured before it runs.
  list.command(navigate(8, 's2', 'http://localhost:4173/b'));
  expect(toBrowser.at(-1)).toMatchObject({ id: 8 });
  attach('s3', 'c1');
  expect(methods('s3')[0]).toBe('Fetch.enable');
});

test('holds every navigation of a page until its first visit is sent, and keeps their order', async () => {
  const { list, toBrowser, attach } = aLink();
  attach('s1', 'c1');
  attach('s2', 'c1');
  list.command(navigate(1, 's1', 'http://localhost:4173/a'));
  list.command(navigate(2, 's2', 'http://localhost:4173/b'));
  list.command(navigate(3, 's1', 'https://example.com/'));
  list.command({ id: 4, sessionId: 's1', method: 'Page.reload' });
  expect(toBrowser).toEqual([]);
  const sent = () => toBrowser.filter(({ method }) => /^Page\.(navigate|reload)$/.test(String(method)));
  await expect.poll(() => sent().length).toBe(4);
  expect(sent().map(({ id }) => id)).toEqual(expect.arrayContaining([1, 2, 3, 4]));
  expect(sent().flatMap(({ id, sessionId }) => (sessionId === 's1' ? id : []))).toEqual([1, 3, 4]);
  const before = (id: number) =>
    toBrowser.slice(
      0,
      toBrowser.findIndex((command) => command.id === id),
    );
  for (const [id, sessionId] of [
    [1, 's1'],
    [2, 's2'],
  ] as const) {
    const methods = before(id).flatMap((command) => (command.sessionId === sessionId ? command.method : []));
    expect(methods).toEqual(expect.arrayContaining(['Fetch.enable', 'Page.addScriptToEvaluateOnNewDocument']));
  }
});

test('ends an earlier navigation of a page, which would keep it from taking our scripts', async () => {
  const { list, toBrowser, attach, methods } = aLink();
  attach('s1', 'c1');
  list.command(navigate(1, 's1', 'https://example.com/'));
  list.command(navigate(2, 's1', 'http://localhost:4173/a'));
  await expect.poll(() => toBrowser.at(-1)?.id).toBe(2);
  expect(methods('s1').slice(0, 2)).toEqual(['Page.navigate', 'Page.stopLoading']);
});
