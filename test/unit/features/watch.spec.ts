import { readdir, readFile } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@playwright/test';
import type { WatchOrders } from '../../../src/broker/watch/orders.ts';
import type { CdpMessage } from '../../../src/cdp/message.ts';
import { Filming, loadFilmedPages } from '../../../src/cdp/screencast/filming.ts';
import { Screencast } from '../../../src/cdp/screencast/screencast.ts';
import { InterceptorList } from '../../../src/cdp/transport/interceptor-list.ts';
import { WatchedWorker } from '../../../src/features/watch/watched-worker.ts';
import { parseRecording } from '../../support/unit/cdp/recordings/recording.ts';

/** What watching costs, on what a real Playwright and a real browser have exchanged. */

const RECORDINGS = new URL('../../support/unit/cdp/recordings/', import.meta.url);

/** A broker that has these orders, one after the other. */
class Orders {
  readonly asked: string[] = [];
  readonly #orders: Omit<WatchOrders, 'number'>[];
  #onTaken: () => void = () => undefined;
  /** Resolves when the worker has followed all orders. */
  readonly taken = new Promise<void>((resolve) => {
    this.#onTaken = resolve;
  });

  constructor(orders: Omit<WatchOrders, 'number'>[]) {
    this.#orders = orders;
  }

  readonly ask = async (method: string, params: object): Promise<unknown> => {
    if (method === 'watchOrders') return await this.#after((params as { after: number }).after);
    this.asked.push(method);
    return null;
  };

  async #after(number: number): Promise<WatchOrders> {
    const next = this.#orders[number];
    if (next) return { number: number + 1, ...next };
    this.#onTaken();
    return await new Promise(() => undefined);
  }
}

/** Replays a recording. Returns what each side received of the other one, and what the broker was asked. */
async function replayed(name: string, orders: Omit<WatchOrders, 'number'>[]) {
  const screencast = new Screencast();
  const sent: CdpMessage[] = [];
  const received: CdpMessage[] = [];
  const list = new InterceptorList([(link) => new Filming(link, screencast)], {
    toBrowser: (command) => sent.push(command),
    toClient: (message) => received.push(message),
  });
  const broker = new Orders(orders);
  const worker = new WatchedWorker(broker.ask, 0);
  worker.opened({ screencast, closed: new Promise(() => undefined) });
  await broker.taken;
  // Where it is loaded, it is loaded now.
  await loadFilmedPages();
  await turn();
  worker.testBegan({ key: 'a 0', titles: ['a'], project: '', startedAt: new Date(1) });
  const entries = parseRecording(await readFile(new URL(name, RECORDINGS), 'utf8'));
  for (const [where, what] of entries) {
    if (where === 'client') list.command(what as CdpMessage);
    if (where !== 'browser') continue;
    list.message(what as CdpMessage);
    // Each arrives in a separate task.
    await turn();
  }
  worker.testEnded({ key: 'a 0' });
  await turn();
  const from = (side: 'browser' | 'client') =>
    entries.flatMap(([where, what]) => (where === side ? [what as CdpMessage] : []));
  const result = { sent: [...sent], received: [...received], asked: [...broker.asked], bytes: screencast.bytes() };
  list.end();
  return { ...result, recorded: { commands: from('client'), messages: from('browser') } };
}

const UNWATCHED = { isWatched: false, pictures: null };
const WITHOUT_PICTURES = { isWatched: true, pictures: null };
const WATCHED = { isWatched: true, pictures: 'small' } as const;

for (const [when, orders, asked] of [
  ['nobody watches', [UNWATCHED], []],
  ['somebody has watched before', [UNWATCHED, WATCHED, UNWATCHED], ['running']],
  ['nobody wants pictures of this slot', [WITHOUT_PICTURES], ['running', 'running', 'running']],
] as const) {
  test(`opens no session, sends no command and moves no byte while ${when}`, async () => {
    const names = (await readdir(RECORDINGS)).filter((name) => name.endsWith('.jsonl'));
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) {
      const replay = await replayed(name, [...orders]);
      expect(replay.sent, name).toEqual(replay.recorded.commands);
      // Responses to commands that another interceptor has sent in the recording reach no client.
      const ids = new Set(replay.sent.map(({ id }) => id));
      expect(replay.received, name).toEqual(
        replay.recorded.messages.filter(({ id }) => id === undefined || ids.has(id)),
      );
      expect(replay.bytes).toBe(0);
      expect(replay.asked).toEqual(asked);
    }
  });
}

test('opens a separate session while somebody watches, and leaves commands of the client as they are', async () => {
  const names = (await readdir(RECORDINGS)).filter((name) => name.endsWith('.jsonl'));
  const all = await Promise.all(names.map((name) => replayed(name, [WATCHED])));
  const more = all.filter(({ sent, recorded }) => sent.length > recorded.commands.length);
  expect(more.length).toBeGreaterThan(5);
  for (const { sent, recorded } of more) {
    const own = sent.filter((command) => !recorded.commands.some(({ id }) => id === command.id));
    expect(own.map(({ method }) => method)).toContain('Target.attachToBrowserTarget');
    expect(sent.filter((command) => !own.includes(command))).toEqual(recorded.commands);
  }
});
