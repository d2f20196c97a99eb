import { expect } from '@playwright/test';
import { type BrokerConnection, connectToBroker, openBroker } from '../../../../src/broker/rpc/client.ts';
import { watchedCallsOver } from '../../../../src/broker/watch/calls.ts';
import { watching } from '../../../../src/broker/watch/feature.ts';
import { orderCallsOver } from '../../../../src/broker/watch/orders.ts';
import { WatchHub } from '../../../../src/broker/watch/watch-hub.ts';
import { connectAsWatcher, type WatcherConnection } from '../../../../src/watch/runs/run-connection.ts';
import { test as base } from '../../../support/unit/broker/socket-broker.ts';

/** How the broker connects those who watch a run with its workers. Real sockets, one process. */

const PICTURE = {
  slot: 0,
  target: 'T',
  url: 'http://x/?token=secret-word',
  at: 1,
  width: 8,
  height: 4,
  data: 'AAAA',
  bytes: 9,
};
const RUNNING = { slot: 0, id: 'a:0', title: 'buys tea-time', project: 'shop', step: 'Click', startedAt: 5 };

const test = base.extend<{ hub: WatchHub; watch(): Promise<WatcherConnection> }>({
  hub: async ({ clock }, use) => await use(new WatchHub({ name: 'shop', runner: 'vitest' }, clock)),
  features: async ({ hub }, use) => await use([watching(hub)]),
  /** Connects somebody who watches. */
  watch: async ({ broker: { address } }, use) => {
    const watchers: WatcherConnection[] = [];
    await use(async () => {
      const watcher = await connectAsWatcher({ address, token: 'o' });
      watchers.push(watcher);
      return watcher;
    });
    for (const watcher of watchers) watcher.close();
  },
});

/** A worker's connection with the calls for watching. */
function watched(connection: BrokerConnection) {
  return { ...connection, ...orderCallsOver(connection.ask), ...watchedCallsOver(connection.ask) };
}

/** Whether a promise settles before everything that is on its way now has arrived. */
async function settles(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const done = () => {
    settled = true;
  };
  promise.then(done, done);
  for (let turn = 0; turn < 50 && !settled; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

test('tells workers what watchers want, and nothing while nobody watches', async ({ broker, watch }) => {
  const worker = watched(await broker.connect());
  const first = await worker.watchOrders({ slot: 0, after: 0 });
  expect(first).toMatchObject({ isWatched: false, pictures: null });
  const next = worker.watchOrders({ slot: 0, after: first.number });
  expect(await settles(next)).toBe(false);

  const watcher = await watch();
  void watcher.runView({ after: 0, known: 0 }).catch(() => undefined);
  const ordered = await next;
  expect(ordered).toMatchObject({ isWatched: true, pictures: null });

  const other = await watch();
  await watcher.demand({ slots: [{ slot: 0, size: 'small' }] });
  const small = await worker.watchOrders({ slot: 0, after: ordered.number });
  expect(small.pictures).toBe('small');
  await other.demand({ slots: [{ slot: 0, size: 'large' }] });
  const large = await worker.watchOrders({ slot: 0, after: small.number });
  expect(large.pictures).toBe('large');
  // Another slot is not concerned.
  expect(await worker.watchOrders({ slot: 1, after: 0 })).toMatchObject({ isWatched: true, pictures: null });

  other.close();
  const again = await worker.watchOrders({ slot: 0, after: large.number });
  expect(again.pictures).toBe('small');
  watcher.close();
  const last = await worker.watchOrders({ slot: 0, after: again.number });
  expect(last).toMatchObject({ isWatched: false, pictures: null });
});

test('passes a picture on, and lets the next one come when a watcher has shown it', async ({ broker, watch }) => {
  const worker = watched(await broker.connect());
  await worker.picture(PICTURE); // nobody wants it
  const [one, two] = [await watch(), await watch()];
  for (const each of [one, two]) await each.demand({ slots: [{ slot: 0, size: 'small' }] });
  const shown = worker.picture(PICTURE);
  const [picture] = await one.pictures();
  expect(picture).toMatchObject({ ...PICTURE, url: 'http://x/?token=***' });
  expect(await settles(shown)).toBe(false);
  await one.shown({ number: picture?.number ?? 0 });
  await shown;
  two.close();

  // Somebody who comes later gets the last picture: a page that does not change has no further one.
  const late = await watch();
  await late.demand({ slots: [{ slot: 0, size: 'small' }] });
  expect(await late.pictures()).toMatchObject([{ target: 'T' }]);
  const left = late.closed;
  late.close();
  expect(await settles(left)).toBe(true);

  // If no watcher shows it, the next one comes after ten seconds.
  const slow = worker.picture(PICTURE);
  await one.pictures();
  expect(await settles(slow)).toBe(false);
  await broker.until(slow);
});

test('a suspended watcher slows no other, and gets the newest picture of each open page later', async ({
  broker,
  watch,
}) => {
  const worker = watched(await broker.connect());
  const [fast, suspended] = [await watch(), await watch()];
  for (const each of [fast, suspended]) await each.demand({ slots: [{ slot: 0, size: 'large' }] });
  for (let at = 1; at <= 30; at += 1) {
    // Every third one is of another page, which is closed.
    const target = at % 3 === 0 ? `closed ${at}` : 'T';
    const shown = worker.picture({ ...PICTURE, at, target });
    const [picture] = await fast.pictures();
    expect(picture).toMatchObject({ at, target });
    await fast.shown({ number: picture?.number ?? 0 });
    await shown;
    if (target !== 'T') await worker.pageClosed({ slot: 0, target });
  }
  const [first, ...others] = await suspended.pictures();
  expect([first?.at, others]).toEqual([1, []]);
  await suspended.shown({ number: first?.number ?? 0 });
  const [newest, ...more] = await suspended.pictures();
  expect([newest?.at, more]).toEqual([29, []]);
  await suspended.shown({ number: newest?.number ?? 0 });
  expect(await settles(suspended.pictures())).toBe(false);
});

test('shows slots, running tests, pages and holds, without the secrets of the run', async ({ broker, hub, watch }) => {
  const connection = await broker.connect();
  const worker = watched(connection);
  const session = { sessionId: 'ses_1', since: 7, waitsFor: null };
  const waits = { sessionId: null, since: 9, waitsFor: 'a place: the key tea-time is used elsewhere' };
  hub.begin({
    slots: () => [
      { slot: 0, ...session },
      { slot: 1, ...waits },
    ],
    tests: () => [],
    secrets: ['tea-time'],
  });
  const watcher = await watch();
  const { number, view } = await watcher.runView({ after: 0, known: 0 });
  expect(view).toMatchObject({
    name: 'shop',
    runner: 'vitest',
    endedAt: null,
    slots: [
      { slot: 0, ...session, test: null, pages: [], hold: null },
      { slot: 1, waitsFor: expect.stringContaining('***') },
    ],
  });

  await worker.running({ tests: [RUNNING] });
  await watcher.demand({ slots: [{ slot: 0, size: 'small' }] });
  void worker.picture(PICTURE).catch(() => undefined);
  await watcher.pictures();
  const held = worker.hold({ slot: 0, reason: 'log in with tea-time', until: 99 });
  const later = await broker.until(watcher.runView({ after: number, known: 0 }));
  expect(later.view.slots[0]).toEqual({
    slot: 0,
    ...session,
    test: { id: 'a:0', title: 'buys ***', project: 'shop', step: 'Click', startedAt: 5 },
    pages: [{ target: 'T', url: 'http://x/?token=***' }],
    hold: { reason: 'log in with ***', until: 99 },
  });
  // What the browser sent, not what was shown of it.
  expect(later.view.pictureBytes).toBe(9);

  // The worker dies: its test and its hold are over.
  connection.close();
  await expect(held).rejects.toMatchObject({ code: 'BROKER_LOST' });
  const after = await broker.until(watcher.runView({ after: later.number, known: 0 }));
  expect(after.view.slots[0]).toMatchObject({ test: null, hold: null });
});

test('passes on what watchers do during a hold, until one of them or the worker ends it', async ({ broker, watch }) => {
  const worker = watched(await broker.connect());
  const watcher = await watch();
  const typed = { kind: 'text', text: 'x' } as const;
  await watcher.input({ slot: 0, target: 'T', input: typed }); // nothing is on hold
  expect(await worker.inputs({ slot: 0 })).toBeNull();

  const held = worker.hold({ slot: 0, reason: 'r', until: 99 });
  const inputs = worker.inputs({ slot: 0 });
  await watcher.input({ slot: 0, target: 'T', input: typed });
  await watcher.input({ slot: 1, target: 'T', input: typed }); // another slot
  expect(await inputs).toEqual([{ target: 'T', input: typed }]);
  const more = worker.inputs({ slot: 0 });
  expect(await settles(held)).toBe(false);
  await watcher.release({ slot: 0 });
  await held;
  expect(await more).toBeNull();

  const again = worker.hold({ slot: 0, reason: 'r', until: 99 });
  await worker.endHold();
  await again;
});

test('lets watchers watch, and nothing else', async ({ broker }) => {
  const { address } = broker;
  await expect(connectAsWatcher({ address, token: 't' })).rejects.toMatchObject({ code: 'BROKER_LOST' });
  for (const role of ['worker', 'control'] as const) {
    await expect(connectToBroker({ address, token: 'o' }, role)).rejects.toMatchObject({ code: 'BROKER_LOST' });
  }
  const { ask, socket } = await openBroker({ address, token: 'o' }, 'observer');
  for (const method of ['lease', 'redact', 'finish', 'state', 'picture', 'hold', 'remaining'] as const) {
    await expect(ask(method, {})).rejects.toThrow(/is for a (worker|control) only/);
  }
  socket.destroy();
});
