import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@playwright/test';
import type { CdpTransport } from '../../../src/cdp/transport/transport.ts';
import { BrowserClients, type ToolSocket } from '../../../src/endpoint/browser-clients.ts';

/** A browser that records what it is sent. */
function fakeBrowser() {
  const sent: { id: number; method: string; sessionId?: string; params?: unknown }[] = [];
  const transport = { send: (message: (typeof sent)[number]) => sent.push(message), close: () => undefined };
  let closes = 0;
  const clients = new BrowserClients(transport as unknown as CdpTransport, () => {
    closes += 1;
  });
  const { onmessage, onclose } = transport as unknown as CdpTransport;
  return {
    clients,
    sent,
    closes: () => closes,
    says: (message: object) => onmessage?.(message, JSON.stringify(message)),
    ends: (reason: string) => onclose?.(reason),
  };
}

function tool() {
  const got: unknown[] = [];
  const ends: string[] = [];
  const socket: ToolSocket = { receive: (text) => got.push(JSON.parse(text)), end: (reason) => ends.push(reason) };
  return { socket, got, ends };
}

/** A tool with a separate session on the browser or a page. */
async function attached(browser: ReturnType<typeof fakeBrowser>, sessionId: string, targetId: string | null = null) {
  const { socket, ...rest } = tool();
  const { clients } = browser;
  const attaching = targetId === null ? clients.addToBrowser(socket) : clients.addToTarget(socket, targetId);
  await setImmediate();
  const { id } = browser.sent.at(-1) ?? {};
  const targetInfo = { targetId: targetId ?? 'whole', type: targetId === null ? 'browser' : 'page' };
  browser.says({ method: 'Target.attachedToTarget', params: { sessionId, targetInfo } });
  browser.says({ id, result: { sessionId } });
  return { ...rest, client: await attaching };
}

test('tools with the same IDs get their own responses', async () => {
  const browser = fakeBrowser();
  const first = tool();
  const root = await browser.clients.addToBrowser(first.socket);
  const second = await attached(browser, 'S2');
  browser.sent.length = 0;
  root.send('{"id":1,"method":"A"}');
  second.client.send('{"id":1,"method":"B"}');
  const [a, b] = browser.sent;
  expect(a).toEqual({ id: 1, method: 'A' });
  expect(b).toMatchObject({ method: 'B', sessionId: 'S2' });
  browser.says({ id: b?.id, sessionId: 'S2', result: { of: 'B' } });
  browser.says({ id: 1, result: { of: 'A' } });
  expect(first.got).toEqual([{ id: 1, result: { of: 'A' } }]);
  expect(second.got).toEqual([{ id: 1, result: { of: 'B' } }]);
});

test('a tool sees events of its sessions only, and cannot use those of others', async () => {
  const browser = fakeBrowser();
  const first = tool();
  await browser.clients.addToBrowser(first.socket);
  const second = await attached(browser, 'S2');
  const page = {
    method: 'Target.attachedToTarget',
    params: { sessionId: 'P', targetInfo: { targetId: 'T', type: 'page' } },
  };
  browser.says({ ...page, sessionId: 'S2' });
  browser.says({ method: 'Page.x', params: {}, sessionId: 'P' });
  browser.says({ method: 'Target.y', params: {} });
  expect(second.got).toEqual([page, { method: 'Page.x', params: {}, sessionId: 'P' }]);
  expect(first.got).toEqual([{ method: 'Target.y', params: {} }]);
  const third = await attached(browser, 'S3');
  const before = browser.sent.length;
  third.client.send('{"id":7,"sessionId":"P","method":"Page.close"}');
  expect(third.got).toEqual([{ id: 7, sessionId: 'P', error: { code: -32001, message: expect.any(String) } }]);
  expect(browser.sent).toHaveLength(before);
});

test('a tool at a page is disconnected when the page closes, and all are when the browser is gone', async () => {
  const browser = fakeBrowser();
  const first = tool();
  await browser.clients.addToBrowser(first.socket);
  const page = await attached(browser, 'P', 'T');
  browser.says({ method: 'Target.detachedFromTarget', params: { sessionId: 'P', targetId: 'T' } });
  expect(page.ends).toEqual(['The page was closed.']);
  expect(first.got).toEqual([]);
  const asked = browser.clients.call('Browser.getVersion');
  browser.ends('gone');
  await expect(asked).rejects.toThrow('gone');
  expect(first.ends).toEqual(['gone']);
  await expect(browser.clients.call('Browser.getVersion')).rejects.toThrow('closed');
});

// A lease whose first page crashes while it opens its address would wait for ever.
test('a command of this process fails when its page closes', async () => {
  const browser = fakeBrowser();
  const asked = browser.clients.call('Page.navigate', { url: 'chrome://kill' }, 'P');
  browser.says({ method: 'Target.detachedFromTarget', params: { sessionId: 'P', targetId: 'T' } });
  await expect(asked).rejects.toThrow('Page.navigate: The page was closed.');
});

test('when the tool on the connection has left, the next one gets it as the first one did', async () => {
  const browser = fakeBrowser();
  const first = await browser.clients.addToBrowser(tool().socket);
  const params = { sessionId: 'P', targetInfo: { targetId: 'T', type: 'page' } };
  browser.says({ method: 'Target.attachedToTarget', params });
  first.close();
  const undone = browser.sent.splice(0);
  expect(undone).toMatchObject([
    { method: 'Target.setAutoAttach', params: { autoAttach: false } },
    { method: 'Target.setDiscoverTargets', params: { discover: false } },
    { method: 'Target.detachFromTarget', params: { sessionId: 'P' } },
  ]);
  const next = tool();
  const joining = browser.clients.addToBrowser(next.socket);
  browser.says({ method: 'Target.detachedFromTarget', params: { sessionId: 'P', targetId: 'T' } });
  for (const { id } of undone) browser.says({ id, result: {} });
  (await joining).send('{"id":1,"method":"A"}');
  expect(browser.sent).toEqual([{ id: 1, method: 'A' }]);
  expect(next.got).toEqual([]);
});

test('closing the browser ends the lease, and is not sent', async () => {
  const browser = fakeBrowser();
  const first = tool();
  (await browser.clients.addToBrowser(first.socket)).send('{"id":3,"method":"Browser.close"}');
  expect(first.got).toEqual([{ id: 3, result: {} }]);
  expect([browser.sent, browser.closes()]).toEqual([[], 1]);
});

test('a message that is not a command disconnects its sender only', async () => {
  const browser = fakeBrowser();
  const first = tool();
  const root = await browser.clients.addToBrowser(first.socket);
  for (const text of ['', 'null', '[]', '{"method":"A"}', '{"id":"1"}', 'x'.repeat(100)]) root.send(text);
  expect(first.ends).toHaveLength(6);
  expect(browser.sent).toEqual([]);
});
