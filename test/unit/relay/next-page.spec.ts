import { expect, test } from '@playwright/test';
import { NextPage } from '../../../src/clients/playwright/relay/next-page.ts';
import { create, type Message, recordMessages } from '../../support/unit/relay/playwright-messages.ts';

/** The first page of a prepared context, as versions 1.48 (numbers as IDs) and 1.65 (texts) create it. */

const ids = { numbers: [1, 2, 3, 4], texts: ['a@1', 'a@2', 'a@3', 'a@4'] } as const;
type Id = string | number;

const newPage = (id: Id, context: string) => ({ id, guid: context, method: 'newPage', params: {}, metadata: {} });
const call = (id: Id, method: string, guid = 'context@2') => ({ id, guid, method, params: {} });
/** What the server sends for a new page. */
const pageMessages = (n: number, id: unknown) => [
  create(`context@${n}`, 'Frame', `frame@${n}`),
  create(`context@${n}`, 'Page', `page@${n}`, { mainFrame: { guid: `frame@${n}` } }),
  { guid: `page@${n}`, method: '__adopt__', params: { guid: `frame@${n}` } },
  { guid: `context@${n}`, method: 'page', params: { page: { guid: `page@${n}` } } },
  { id, result: { page: { guid: `page@${n}` } } },
];

/** An interceptor that has seen a page, and prepares the one of context 2. */
function start(first: Id, haveWindows = false) {
  const out = recordMessages();
  const interceptor = new NextPage(out, () => haveWindows);
  const client = (...messages: Message[]) => {
    for (const message of messages) interceptor.fromClient(JSON.stringify(message));
    return out.server();
  };
  const server = (...messages: Message[]) => {
    for (const message of messages) interceptor.fromServer(JSON.stringify(message));
    return out.client();
  };
  client(newPage(first, 'context@1'));
  server(...pageMessages(1, first));
  interceptor.prepare('context@2');
  const [prepare] = out.server();
  return { out, interceptor, client, server, prepare };
}

for (const [kind, [first, second, third, fourth]] of Object.entries(ids)) {
  test(`gives the client the prepared page when it requests one (${kind})`, () => {
    const { out, client, server, prepare } = start(first);
    expect(prepare).toEqual({ ...newPage(first, 'context@2'), id: expect.anything() });
    const other = { guid: 'page@1', method: 'console', params: {} };
    expect(server(...pageMessages(2, prepare?.id), other)).toEqual([other]);
    expect(client(call(second, 'updateSubscription'))).toEqual([call(second, 'updateSubscription')]);
    expect(client(newPage(third, 'context@2'))).toEqual([]);
    expect(out.client()).toEqual(pageMessages(2, third));
    const load = { guid: 'frame@2', method: 'loadstate', params: {} };
    expect(server(load)).toEqual([load]);
    expect(client(newPage(fourth, 'context@2'))).toEqual([newPage(fourth, 'context@2')]);
  });

  test(`gives the client a page that is still being created (${kind})`, () => {
    const { client, server, prepare } = start(first);
    expect(client(newPage(second, 'context@2'))).toEqual([]);
    expect(server(...pageMessages(2, prepare?.id))).toEqual(pageMessages(2, second));
  });

  test(`closes the page before the client changes its context, and prepares no further one (${kind})`, () => {
    const { out, interceptor, client, server, prepare } = start(first);
    const change = call(second, 'addInitScript');
    expect(client(change, newPage(third, 'context@2'))).toEqual([]);
    expect(server(...pageMessages(2, prepare?.id))).toEqual([]);
    const [close, ...early] = out.server();
    expect([close, ...early]).toEqual([expect.objectContaining({ guid: 'page@2', method: 'close' })]);
    const closed = [
      { guid: 'page@2', method: 'close', params: {} },
      { guid: 'page@2', method: '__dispose__', params: {} },
      { id: close?.id },
    ];
    expect(server(...closed)).toEqual([]);
    expect(out.server()).toEqual([change, newPage(third, 'context@2')]);
    expect(server(...pageMessages(3, third))).toEqual(pageMessages(3, third));
    const disposed = { guid: 'context@2', method: '__dispose__', params: {} };
    expect(server(disposed)).toEqual([disposed]);
    interceptor.prepare('context@4');
    expect(out.server()).toEqual([]);
  });

  test(`hides the page of a context that is closed without it (${kind})`, () => {
    const { out, interceptor, client, server, prepare } = start(first);
    expect(client(call(second, 'close'))).toEqual([call(second, 'close')]);
    const closed = { guid: 'context@2', method: 'close', params: {} };
    const page = pageMessages(2, prepare?.id);
    expect(server(...page, { guid: 'page@2', method: 'close', params: {} }, closed)).toEqual([closed]);
    const disposed = { guid: 'context@2', method: '__dispose__', params: {} };
    expect(server(disposed)).toEqual([disposed]);
    interceptor.prepare('context@4');
    expect(out.server()).toEqual([expect.objectContaining({ guid: 'context@4', method: 'newPage' })]);
  });

  test(`requests the page itself when the prepared one failed (${kind})`, () => {
    const { out, client, server, prepare } = start(first);
    const subscribe = call(third, 'exposeBinding');
    expect(client(newPage(second, 'context@2'), subscribe)).toEqual([]);
    expect(server({ id: prepare?.id, error: { error: { message: 'no' } } })).toEqual([]);
    expect(out.server()).toEqual([newPage(second, 'context@2'), subscribe]);
  });
}

test('prepares no page where pages have windows, and none before the first one', () => {
  expect(start(1, true).prepare).toBeUndefined();
  const out = recordMessages();
  new NextPage(out, () => false).prepare('context@1');
  expect(out.server()).toEqual([]);
});
