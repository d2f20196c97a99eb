import { expect, test } from '@playwright/test';
import { EarlyClose } from '../../../src/clients/playwright/relay/early-close.ts';
import { EarlyWrites } from '../../../src/clients/playwright/relay/early-writes.ts';
import { NextContext } from '../../../src/clients/playwright/relay/next-context.ts';
import { NextPage } from '../../../src/clients/playwright/relay/next-page.ts';
import { create, recordMessages } from '../../support/unit/relay/playwright-messages.ts';

/** Playwright's protocol on its way through a worker, as versions 1.48 (numbers as IDs) and 1.65 (texts) speak it. */

const json = (message: object) => JSON.stringify(message);
const newContext = (id: string | number, params: object = { locale: 'de' }) => ({
  id,
  guid: 'browser@1',
  method: 'newContext',
  params,
  metadata: { internal: false },
});
/** What the server sends for a new context. */
const contextMessages = (n: number, id: string | number) => [
  create('browser@1', 'Tracing', `tracing@${n}`),
  create('browser@1', 'APIRequestContext', `request@${n}`, { tracing: { guid: `tracing@${n}` } }),
  create('browser@1', 'BrowserContext', `context@${n}`, { requestContext: { guid: `request@${n}` } }),
  { guid: `context@${n}`, method: '__adopt__', params: { guid: `request@${n}` } },
  { guid: 'browser@1', method: 'context', params: { context: { guid: `context@${n}` } } },
  { id, result: { context: { guid: `context@${n}` } } },
];
const ids = { numbers: [1, 2, 3], texts: ['a@1', 'a@2', 'a@3'] } as const;

for (const [kind, [first, second, third]] of Object.entries(ids)) {
  test(`closes a context at once, and shows the client each event once (${kind})`, () => {
    const out = recordMessages();
    const interceptor = new EarlyClose(out);
    for (const message of contextMessages(1, first)) interceptor.fromServer(json(message));
    interceptor.fromServer(json(create('context@1', 'Page', 'page@1')));
    out.client();
    const dispose = { id: second, guid: 'request@1', method: 'dispose', params: {} };
    const close = { id: third, guid: 'context@1', method: 'close', params: {} };
    interceptor.fromClient(json(dispose));
    interceptor.fromClient(json(close));
    expect(out.server()).toEqual([dispose, close]);
    expect(out.client()).toEqual([
      { id: second },
      { guid: 'page@1', method: 'close', params: {} },
      { guid: 'context@1', method: 'close', params: {} },
      { id: third },
    ]);
    for (const late of [
      { id: second, result: {} },
      { guid: 'page@1', method: 'console', params: {} },
      { guid: 'page@1', method: 'close', params: {} },
      { guid: 'context@1', method: 'close', params: {} },
      { id: third, result: {} },
    ]) {
      interceptor.fromServer(json(late));
    }
    expect(out.client()).toEqual([]);
    const disposed = { guid: 'context@1', method: '__dispose__', params: {} };
    interceptor.fromServer(json(disposed));
    expect(out.client()).toEqual([disposed]);
  });

  test(`gives the client the prepared context when it requests the same (${kind})`, () => {
    const out = recordMessages();
    const ready: string[] = [];
    const interceptor = new NextContext(out, (context) => ready.push(context));
    interceptor.fromClient(json(newContext(first)));
    for (const message of contextMessages(1, first)) interceptor.fromServer(json(message));
    expect(out.client()).toEqual(contextMessages(1, first));
    interceptor.fromServer(json(create('context@1', 'Page', 'page@1')));
    const [, prepare] = out.server();
    expect(prepare).toEqual({ ...newContext(first), id: expect.anything() });
    out.client();
    for (const message of contextMessages(2, String(prepare?.id))) interceptor.fromServer(json(message));
    expect(ready).toEqual(['context@2']);
    const other = { guid: 'page@1', method: 'console', params: {} };
    interceptor.fromServer(json(other));
    expect(out.client()).toEqual([other]);
    interceptor.fromClient(json({ ...newContext(second), metadata: { internal: true } }));
    expect(out.client()).toEqual(contextMessages(2, second));
    expect(out.server()).toEqual([]);
  });

  test(`closes the prepared context when the client requests another one (${kind})`, () => {
    const out = recordMessages();
    const interceptor = new NextContext(out, () => undefined);
    interceptor.fromClient(json(newContext(first)));
    for (const message of contextMessages(1, first)) interceptor.fromServer(json(message));
    interceptor.fromServer(json(create('context@1', 'Page', 'page@1')));
    const [, prepare] = out.server();
    // While it is being prepared.
    interceptor.fromClient(json(newContext(second, { locale: 'fr' })));
    expect(out.server()).toEqual([]);
    out.client();
    for (const message of contextMessages(2, String(prepare?.id))) interceptor.fromServer(json(message));
    const [close, requested] = out.server();
    expect(close).toMatchObject({ guid: 'context@2', method: 'close' });
    expect(requested).toEqual(newContext(second, { locale: 'fr' }));
    for (const late of [
      { guid: 'context@2', method: 'close', params: {} },
      { guid: 'context@2', method: '__dispose__', params: {} },
      { id: close?.id, result: {} },
    ]) {
      interceptor.fromServer(json(late));
    }
    expect(out.client()).toEqual([]);
    for (const message of contextMessages(3, second)) interceptor.fromServer(json(message));
    expect(out.client()).toEqual(contextMessages(3, second));
  });

  test(`prepares nothing while another context is being created (${kind})`, () => {
    const out = recordMessages();
    const interceptor = new NextContext(out, () => undefined);
    interceptor.fromClient(json(newContext(first)));
    for (const message of contextMessages(1, first)) interceptor.fromServer(json(message));
    interceptor.fromClient(json(newContext(second)));
    interceptor.fromServer(json(create('context@1', 'Page', 'page@1')));
    expect(out.server()).toEqual([newContext(first), newContext(second)]);
  });
}

test('requests the context itself when the prepared one failed', () => {
  const out = recordMessages();
  const interceptor = new NextContext(out, () => undefined);
  interceptor.fromClient(json(newContext(1)));
  for (const message of contextMessages(1, 1)) interceptor.fromServer(json(message));
  interceptor.fromServer(json(create('context@1', 'Page', 'page@1')));
  const [, prepare] = out.server();
  interceptor.fromClient(json(newContext(2)));
  out.client();
  interceptor.fromServer(json({ id: prepare?.id, error: { error: { message: 'no' } } }));
  expect(out.client()).toEqual([]);
  expect(out.server()).toEqual([newContext(2)]);
});

test('waits for a context that records video, and for other objects than contexts', () => {
  const out = recordMessages();
  const interceptor = new EarlyClose(out);
  interceptor.fromClient(json(newContext(1, { recordVideo: {} })));
  for (const message of contextMessages(1, 1)) interceptor.fromServer(json(message));
  out.client();
  interceptor.fromClient(json({ id: 2, guid: 'context@1', method: 'close', params: {} }));
  interceptor.fromClient(json({ id: 3, guid: 'page@9', method: 'close', params: {} }));
  expect(out.client()).toEqual([]);
});

for (const [kind, [first, second, third]] of Object.entries(ids)) {
  const write = (id: string | number) => ({ id, guid: 'file@1', method: 'write', params: { binary: 'eA==' } });
  const close = { id: third, guid: 'file@1', method: 'close', params: {} };

  test(`writes a file without waiting, but for its end (${kind})`, () => {
    const out = recordMessages();
    const interceptor = new EarlyWrites(out, () => 0);
    interceptor.fromServer(json(create('context@1', 'WritableStream', 'file@1')));
    out.client();
    for (const message of [write(first), write(second), close]) interceptor.fromClient(json(message));
    expect(out.server()).toEqual([write(first), write(second), close]);
    expect(out.client()).toEqual([first, second].map((id) => ({ id })));
    for (const id of [first, second]) interceptor.fromServer(json({ id }));
    expect(out.client()).toEqual([]);
    interceptor.fromServer(json({ id: third }));
    expect(out.client()).toEqual([{ id: third }]);
  });

  test(`reports at the end of a file that a part of it was not written (${kind})`, () => {
    const out = recordMessages();
    const interceptor = new EarlyWrites(out, () => 0);
    interceptor.fromServer(json(create('context@1', 'WritableStream', 'file@1')));
    for (const message of [write(first), write(second), close]) interceptor.fromClient(json(message));
    out.client();
    interceptor.fromServer(json({ id: first, error: { error: { message: 'full' } } }));
    interceptor.fromServer(json({ id: second }));
    interceptor.fromServer(json({ id: third, result: {} }));
    expect(out.client()).toEqual([{ id: third, error: { error: { message: 'full' } } }]);
  });

  test(`waits while much is on its way, and for other objects (${kind})`, () => {
    const out = recordMessages();
    let queued = 9 * 1024 * 1024;
    const interceptor = new EarlyWrites(out, () => queued);
    interceptor.fromServer(json(create('context@1', 'WritableStream', 'file@1')));
    out.client();
    interceptor.fromClient(json(write(first)));
    queued = 0;
    interceptor.fromClient(json({ ...write(second), guid: 'other@1' }));
    expect(out.client()).toEqual([]);
    interceptor.fromServer(json({ id: first, result: {} }));
    expect(out.client()).toEqual([{ id: first, result: {} }]);
  });
}

test('passes on messages that it cannot read', () => {
  const out = recordMessages();
  const early = new EarlyClose(out);
  const writes = new EarlyWrites(out, () => 0);
  const next = new NextContext(out, () => undefined);
  const pages = new NextPage(out, () => false);
  const big = json({ guid: 'page@1', method: 'x', params: { text: 'x'.repeat(200_000) } });
  for (const text of [big, '[1]', '{"id":{}}', '"newContext"']) {
    for (const interceptor of [early, writes, next, pages]) {
      interceptor.fromServer(text);
      interceptor.fromClient(text);
      expect(out.client()).toEqual([JSON.parse(text)]);
      expect(out.server()).toEqual([JSON.parse(text)]);
    }
  }
});
