import { expect, test } from '@playwright/test';
import type { CdpMessage } from '../../../../src/cdp/message.ts';
import type {
  Interceptor,
  InterceptorFactory,
  InterceptorTransport,
} from '../../../../src/cdp/transport/interceptor.ts';
import { InterceptorList } from '../../../../src/cdp/transport/interceptor-list.ts';

/** Messages in a list of interceptors; the test plays both client and browser. */

const turn = () => new Promise((resolve) => setImmediate(resolve));

function listOf(...factories: InterceptorFactory[]) {
  const toBrowser: CdpMessage[] = [];
  const toClient: CdpMessage[] = [];
  const list = new InterceptorList(factories, {
    toBrowser: (command) => toBrowser.push(command),
    toClient: (message) => toClient.push(message),
  });
  return { list, toBrowser, toClient };
}

/** Appends its name to the method of all messages that pass it, and gives the test its link. */
class Marks implements Interceptor {
  readonly link: InterceptorTransport;
  readonly #name: string;

  constructor(name: string, link: InterceptorTransport) {
    this.#name = name;
    this.link = link;
  }

  onCommand(command: CdpMessage): CdpMessage {
    return { ...command, method: `${command.method} ${this.#name}` };
  }

  onMessage(message: CdpMessage): CdpMessage {
    return { ...message, method: `${message.method} ${this.#name}` };
  }
}

function marked() {
  const marks: Marks[] = [];
  const factories = ['a', 'b', 'c'].map(
    (name): InterceptorFactory =>
      (link) => {
        const made = new Marks(name, link);
        marks.push(made);
        return made;
      },
  );
  const linkOf = (name: 'a' | 'b' | 'c') => (marks['abc'.indexOf(name)] as Marks).link;
  return { ...listOf(...factories), linkOf };
}

test('passes commands from the client to the browser, and messages back', () => {
  const { list, toBrowser, toClient } = marked();
  list.command({ id: 1, method: 'command' });
  list.message({ method: 'event' });
  expect(toBrowser).toEqual([{ id: 1, method: 'command a b c' }]);
  expect(toClient).toEqual([{ method: 'event c b a' }]);
});

test('passes unchanged messages on as the same object', () => {
  const { list, toBrowser, toClient } = listOf(
    () => ({}),
    () => ({ onCommand: (command) => command, onMessage: (message) => message }),
  );
  const command = { id: 1, method: 'Page.enable' };
  const event = { method: 'Page.loadEventFired' };
  list.command(command);
  list.message(event);
  expect(toBrowser[0]).toBe(command);
  expect(toClient[0]).toBe(event);
});

test('drops a message when an interceptor returns null', () => {
  const unreached = () => {
    throw new Error('is behind the one that drops');
  };
  const { list, toBrowser, toClient } = listOf(
    () => ({ onMessage: unreached }),
    () => ({ onCommand: () => null, onMessage: () => null }),
    () => ({ onCommand: unreached, onMessage: (message) => message }),
  );
  list.command({ id: 1, method: 'command' });
  list.message({ method: 'event' });
  expect([toBrowser, toClient]).toEqual([[], []]);
});

test('passes a delivered message through the interceptors before the client', () => {
  const { linkOf, toClient } = marked();
  for (const name of ['a', 'b', 'c'] as const) linkOf(name).deliver({ method: name });
  expect(toClient.map(({ method }) => method)).toEqual(['a', 'b a', 'c b a']);
});

test('delivers several messages in order, with nothing in between', () => {
  const { list, toClient } = listOf(
    () => ({ onMessage: (message) => message }),
    (link) => ({
      onMessage: (message) => {
        link.deliver({ method: 'before' });
        link.deliver(message);
        link.deliver({ method: 'behind' });
        return null;
      },
    }),
  );
  list.message({ method: 'one' });
  list.message({ method: 'two' });
  expect(toClient.map(({ method }) => method)).toEqual(['before', 'one', 'behind', 'before', 'two', 'behind']);
});

test('delivers an immediate response after the client has sent its command, in a separate task', async () => {
  const { list, toClient } = listOf((link) => ({
    onCommand: ({ id }) => {
      link.deliver({ id, result: {} });
      link.deliver({ method: 'event' });
      return null;
    },
  }));
  list.command({ id: 1, method: 'Page.enable' });
  await Promise.resolve();
  expect(toClient).toEqual([]);
  await turn();
  expect(toClient).toEqual([{ id: 1, result: {} }, { method: 'event' }]);
});

test('sends own commands directly to the browser, and hides their responses from others', async () => {
  const { list, linkOf, toBrowser, toClient } = marked();
  const called = linkOf('a').call('Target.getTargets', {}, 'session');
  const refused = linkOf('b').call('Browser.getVersion');
  linkOf('b').post('Page.enable');
  expect(toBrowser.map(({ method, sessionId }) => [method, sessionId])).toEqual([
    ['Target.getTargets', 'session'],
    ['Browser.getVersion', undefined],
    ['Page.enable', undefined],
  ]);
  const [first, second, third] = toBrowser.map(({ id }) => id);
  list.message({ id: third, result: {} });
  list.message({ id: second, error: { message: 'no' } });
  list.message({ id: first, result: { targetInfos: [] } });
  list.message({ id: first, result: 'again' });
  expect(await called).toEqual({ targetInfos: [] });
  await expect(refused).rejects.toMatchObject({ code: 'SERVICE_BAD_RESPONSE', message: expect.stringContaining('no') });
  expect(toClient).toEqual([]);
});

test('passes a sent command through the interceptors before the browser, and its response back', () => {
  const heard: CdpMessage[] = [];
  let sender: InterceptorTransport | undefined;
  const { list, toBrowser, toClient } = listOf(
    (link) => new Marks('outer', link),
    (link) => {
      sender = link;
      return {
        onMessage: (message) => {
          heard.push(message);
          return message.id === id ? null : message;
        },
      };
    },
    (link) => new Marks('inner', link),
  );
  const id = sender?.send({ method: 'command', sessionId: 'session' });
  expect(toBrowser).toEqual([{ id, method: 'command inner', sessionId: 'session' }]);
  list.message({ id, result: {} });
  expect(heard.map((message) => message.id)).toEqual([id]);
  expect(toClient).toEqual([]);
});

test('drops a response that the client has not requested', () => {
  let sender: InterceptorTransport | undefined;
  const { list, toClient } = listOf((link) => {
    sender = link;
    return {};
  });
  list.message({ id: sender?.send({ method: 'command' }), result: {} });
  expect(toClient).toEqual([]);
});

test('rejects own commands first at the end, and then notifies each interceptor once', async () => {
  const told: string[] = [];
  let call: Promise<unknown> | undefined;
  const { list, linkOf } = marked();
  const { list: other } = listOf((link) => {
    call = undefined;
    return {
      onCommand: () => {
        call = link.call('Page.enable');
        call.catch(() => told.push('rejected'));
        return null;
      },
      end: () => {
        queueMicrotask(() => told.push('ended'));
      },
    };
  });
  const waiting = linkOf('c').call('Page.enable');
  list.end();
  await expect(waiting).rejects.toMatchObject({ code: 'BROWSER_LOST' });
  other.command({ id: 1, method: 'command' });
  other.end();
  await turn();
  expect(told).toEqual(['rejected', 'ended']);
});

/**
 * An interceptor that hides latency: it sends commands early, holds back the resulting events, and responds to the
 * client from the results.
 */
test('supports an interceptor that responds from its own earlier requests', async () => {
  class Ahead implements Interceptor {
    readonly #link: InterceptorTransport;
    readonly #sentId: number;
    #answer: unknown;
    readonly #held: CdpMessage[] = [];

    constructor(link: InterceptorTransport, sentId: number) {
      this.#link = link;
      this.#sentId = sentId;
    }

    onCommand(command: CdpMessage): CdpMessage | null {
      if (command.method !== 'Target.createBrowserContext' || this.#answer === undefined) return command;
      for (const event of this.#held.splice(0)) this.#link.deliver(event);
      this.#link.deliver({ id: command.id, result: this.#answer });
      return null;
    }

    onMessage(message: CdpMessage): CdpMessage | null {
      if (message.id === this.#sentId) {
        this.#answer = message.result;
        return null;
      }
      if (message.method !== 'Target.attachedToTarget') return message;
      this.#held.push(message);
      return null;
    }
  }
  const links: InterceptorTransport[] = [];
  let ahead: Ahead | undefined;
  const { list, toBrowser, toClient } = listOf(
    (link) => {
      links.push(link);
      return {
        onCommand: (command) => (ahead ? ahead.onCommand(command) : command),
        onMessage: (message) => (ahead ? ahead.onMessage(message) : message),
      };
    },
    (link) => new Marks('passed', link),
  );
  const [link] = links as [InterceptorTransport];
  ahead = new Ahead(link, link.send({ method: 'Target.createBrowserContext' }));
  expect(toBrowser.map(({ method }) => method)).toEqual(['Target.createBrowserContext passed']);
  ahead.onMessage({ method: 'Target.attachedToTarget' });
  ahead.onMessage({ id: toBrowser[0]?.id, result: { browserContextId: 'context' } });
  expect(toClient).toEqual([]);
  list.command({ id: 7, method: 'Target.createBrowserContext' });
  await turn();
  expect(toBrowser.length).toBe(1);
  expect(toClient).toEqual([{ method: 'Target.attachedToTarget' }, { id: 7, result: { browserContextId: 'context' } }]);
});
