import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test as base, expect } from '@playwright/test';
import fc from 'fast-check';
import { WebSocketServer } from 'ws';
import { PRIORITY, RequestScheduler } from '../../../src/broker/acquire/requests/request-scheduler.ts';
import { cdpAddress } from '../../../src/providers/cdp-address.ts';
import { FixedBrowsers } from '../../../src/providers/fixed-browsers.ts';
import { ProvidedBrowsers } from '../../../src/providers/provided-browsers.ts';
import { type ProvidedBrowser, ProviderError, type ReleaseReason } from '../../../src/providers/provider.ts';
import { responds } from '../../../src/providers/responds.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { noAccount } from '../../support/unit/broker/broker-parts.ts';
import { FakeClock } from '../../support/unit/broker/fake-clock.ts';

/** A server in place of a browser's debugging port. */
interface Port {
  url: string;
  isUp: boolean;
  isSilent: boolean;
}

const SIGNAL = new AbortController().signal;

const test = base.extend<{ ports: Port[] }>({
  ports: async ({}, use) => {
    const servers: Server[] = [];
    const ports = await Promise.all(
      [0, 1, 2].map(async () => {
        const port: Port = { url: '', isUp: true, isSilent: false };
        const server = createServer((request, response) => {
          if (!port.isUp) return void request.socket.destroy();
          if (port.isSilent) return undefined;
          response.setHeader('content-type', 'application/json');
          response.end(
            JSON.stringify({ webSocketDebuggerUrl: `ws://${request.headers.host}/devtools/browser/secret` }),
          );
        });
        servers.push(server);
        await once(server.listen(0, '127.0.0.1'), 'listening');
        port.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        return port;
      }),
    );
    await use(ports);
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  },
});

type Step = { op: 'acquire' | 'release' | 'toggle'; at: number };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record<Step>({ op: fc.constantFrom('acquire', 'acquire', 'release', 'toggle'), at: fc.nat(2) }),
  { minLength: 1, maxLength: 30 },
);

/** What must be leased, and where. */
class Model {
  readonly leases = new Map<string, number>();
  readonly ports: readonly Port[];
  readonly limits: readonly number[];

  constructor(ports: readonly Port[], limits: readonly number[]) {
    this.ports = ports;
    this.limits = limits;
  }

  isFull(at: number): boolean {
    return [...this.leases.values()].filter((each) => each === at).length >= (this.limits[at] ?? 1);
  }

  /** Judges an attempt to lease one. */
  acquired(outcome: ProvidedBrowser | Error): void {
    const places = this.ports.map((port, at) => ({ ...port, at, isFull: this.isFull(at) }));
    const usable = places.filter(({ isUp, isFull }) => isUp && !isFull);
    if (outcome instanceof Error) {
      assert.deepEqual(usable, []);
      assert(outcome instanceof ProviderError);
      const code = places.some(({ isFull }) => isFull) ? 'LIMIT_REACHED' : 'CAPACITY';
      assert.equal(outcome.code, code);
      return;
    }
    const where = usable.find(({ url }) => url.slice(7) === new URL(outcome.cdpUrl).host);
    assert(where && !this.leases.has(outcome.id));
    this.leases.set(outcome.id, where.at);
  }
}

/** Each death and each return is said once, in turn, without a secret. */
function judgeNotes(notes: string[], { url }: Port): void {
  const said = notes.filter((note) => note.includes(url.slice(7)));
  for (const [n, note] of said.entries()) assert.match(note, n % 2 === 0 ? /is left out: / : /answers again$/);
  assert(!notes.join().includes('secret'));
}

const limits = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 3, maxLength: 3 });

test('leases each browser to as many as it takes, whichever die and return', async ({ ports }) => {
  await fc.assert(
    fc.asyncProperty(steps, limits, async (history, most) => {
      for (const port of ports) port.isUp = true;
      const notes: string[] = [];
      const model = new Model(ports, most);
      const fixed = new FixedBrowsers(
        ports.map(({ url }, at) => ({ url, max: most[at] ?? 1 })),
        (text) => notes.push(text),
      );
      for (const { op, at } of history) {
        const port = ports[at] as Port;
        const id = [...model.leases.keys()][at];
        if (op === 'toggle') port.isUp = !port.isUp;
        else if (op === 'acquire')
          model.acquired(await fixed.acquire({ signal: SIGNAL }).catch((error: Error) => error));
        else if (id !== undefined) {
          await fixed.release(id, 'finished');
          model.leases.delete(id);
        }
      }
      for (const port of ports) judgeNotes(notes, port);
    }),
    propertyRuns(100, 20),
  );
});

test('a request that waits at the limit gets a browser that answers again', async ({ ports }) => {
  const [one, other] = ports as [Port, Port];
  other.isUp = false;
  const browsers = [one, other].map(({ url }) => ({ url, max: 1 }));
  const provider = new ProvidedBrowsers(new FixedBrowsers(browsers, () => undefined));
  const clock = new FakeClock();
  const options = { provider, runId: 'r', limit: null, held: () => 1, owns: () => false, clock, random: () => 0 };
  const scheduler = new RequestScheduler(options);
  const came: string[] = [];
  let parked = 0;
  const ask = async () => {
    const { cdpUrl } = await scheduler.ask({
      signal: SIGNAL,
      priority: () => PRIORITY.needed,
      onWait: (what) => {
        if (what === 'capacity') parked += 1;
      },
      send: async () =>
        await provider.acquire({
          label: '',
          session: {},
          project: '',
          needMs: 0,
          askedAt: clock.now(),
          signal: SIGNAL,
          account: noAccount(),
        }),
      next: () => ({ do: 'park' }),
      onAgain: () => undefined,
    });
    came.push(new URL(cdpUrl).host);
  };
  const seen = async (what: () => number) => {
    await clock.advance(1_000);
    return what();
  };
  await ask();
  const second = ask();
  // Once because the first one has the only browser, and once because the list seems to have room.
  await expect.poll(() => seen(() => parked)).toBe(2);
  other.isUp = true;
  await expect.poll(() => seen(() => came.length)).toBe(2);
  await second;
  expect(came).toEqual([one, other].map(({ url }) => new URL(url).host));
});

test('never leases one browser twice at the same time', async ({ ports }) => {
  const fixed = new FixedBrowsers(
    ports.map(({ url }) => ({ url, max: 1 })),
    () => undefined,
  );
  const outcomes = await Promise.allSettled([1, 2, 3, 4, 5].map(() => fixed.acquire({ signal: SIGNAL })));
  const given = outcomes.flatMap((each) => (each.status === 'fulfilled' ? each.value.cdpUrl : []));
  expect(new Set(given).size).toBe(3);
  expect(given).toHaveLength(3);
});

/** What is at a `ws://` address: a browser, or a server that accepts connections, or WebSockets, and never responds. */
type At = 'a browser' | 'a silent server' | 'silent WebSockets' | 'another protocol';

/** Servers whose kind a test changes, at `ws://` addresses. */
async function webSockets(count: number) {
  const at: At[] = [];
  const servers = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const sockets = new WebSocketServer({ noServer: true });
      const server = createServer();
      server.on('upgrade', (request, socket, head) => {
        const kind = at[n];
        if (kind === 'a silent server') return void socket.on('error', () => undefined);
        sockets.handleUpgrade(request, socket, head, (client) => {
          client.on('message', (text) => {
            const { id } = JSON.parse(String(text));
            if (kind === 'a browser') {
              client.send(JSON.stringify({ method: 'Target.targetCreated', params: {} }));
              client.send(JSON.stringify({ id, result: { product: 'Chrome/1' } }));
            } else if (kind === 'another protocol') client.send('hello');
          });
        });
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      return server;
    }),
  );
  const hosts = servers.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`);
  const close = () => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  };
  return { at, hosts, urls: hosts.map((host) => `ws://${host}/?token=s3cret`), close };
}

/** The provider of such addresses, with little patience for silent ones, and a clock for how long failures count. */
function fixedAt({ urls, at }: Pick<Awaited<ReturnType<typeof webSockets>>, 'urls' | 'at'>, max: number) {
  const asked: string[] = [];
  const notes: string[] = [];
  const time = { now: 0 };
  const reach = {
    address: cdpAddress,
    responds: async (url: string) => {
      asked.push(url);
      const is = await responds(url, at[urls.indexOf(url)] === 'a browser' ? undefined : 300);
      // As if it had taken the real time limit.
      time.now += is ? 0 : 5_000;
      return is;
    },
    now: () => time.now,
  };
  const fixed = new FixedBrowsers(
    urls.map((url) => ({ url, max })),
    (text) => notes.push(text),
    reach,
  );
  const acquire = async () => {
    const { id, cdpUrl } = await fixed.acquire({ signal: SIGNAL });
    return { cdpUrl, end: (reason: ReleaseReason) => fixed.release(id, reason) };
  };
  return { acquire, notes, time, asked };
}

for (const kind of ['a silent server', 'silent WebSockets', 'another protocol'] as const) {
  test(`a \`ws://\` address of ${kind} is left out until a browser responds there`, async () => {
    const sockets = await webSockets(2);
    const { at, urls, hosts, close } = sockets;
    const [bad, good] = urls;
    at.push(kind, 'a browser');
    const { acquire, notes, time } = fixedAt(sockets, 2);
    const [first, again] = [await acquire(), await acquire()];
    expect([first.cdpUrl, again.cdpUrl]).toEqual([bad, bad]);
    for (const lease of [first, again]) await lease.end('connect-failed');
    expect(notes).toEqual([`the browser at ${hosts[0]} is left out: it accepts no CDP connection`]);
    const others = [await acquire(), await acquire()];
    expect(others.map(({ cdpUrl }) => cdpUrl)).toEqual([good, good]);
    // No worker waits for it.
    await expect(acquire()).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    at[0] = 'a browser';
    time.now += 30_000;
    const last = await acquire();
    expect(last.cdpUrl).toBe(bad);
    await last.end('run-ended');
    expect(notes).toHaveLength(1);
    await (await acquire()).end('finished');
    expect(notes.slice(1)).toEqual([`the browser at ${hosts[0]} answers again`]);
    close();
  });
}

test('only silent `ws://` addresses: fails with one error for good, and asks them once in a while', async () => {
  const sockets = await webSockets(2);
  const { at, urls, hosts, close } = sockets;
  at.push('a silent server', 'silent WebSockets');
  const { acquire, notes, time, asked } = fixedAt(sockets, 1);
  for (const lease of [await acquire(), await acquire()]) await lease.end('connect-failed');
  expect(asked).toEqual([]);
  // Those that come at the same time wait for the same question.
  for (const error of await Promise.all([1, 2, 3].map(() => acquire().catch((error) => error)))) {
    expect(error.code).toBe('INVALID');
    expect(error.message).toContain(`No browser answers at ${hosts.join(', ')}. Start one, for example`);
    expect(error.message).not.toContain('s3cret');
  }
  await expect(acquire()).rejects.toMatchObject({ code: 'INVALID' });
  expect(asked).toEqual(urls);
  time.now += 60_000;
  await expect(acquire()).rejects.toMatchObject({ code: 'INVALID' });
  expect(asked).toEqual([...urls, ...urls]);
  expect(notes).toHaveLength(2);
  close();
});

test('a `ws://` address that refuses connections is asked again, because its browser may be starting', async () => {
  const sockets = await webSockets(1);
  sockets.close();
  const asked: string[] = [];
  const fixed = new FixedBrowsers([{ url: sockets.urls[0] as string, max: 1 }], () => undefined, {
    address: cdpAddress,
    responds: async (url) => {
      asked.push(url);
      return await responds(url);
    },
    now: () => 0,
  });
  const { id } = await fixed.acquire({ signal: SIGNAL });
  await fixed.release(id, 'connect-failed');
  for (const _ of [1, 2]) await expect(fixed.acquire({ signal: SIGNAL })).rejects.toMatchObject({ code: 'CAPACITY' });
  expect(asked).toHaveLength(2);
});

test('the end of a lease from before its failure does not say that a browser answers again', async () => {
  const sockets = await webSockets(1);
  sockets.at.push('a browser');
  const { acquire, notes } = fixedAt(sockets, 3);
  const [before, failed] = [await acquire(), await acquire()];
  await failed.end('connect-failed');
  await before.end('idle');
  expect(notes).toHaveLength(1);
  const [between, failedAgain, after] = [await acquire(), await acquire(), await acquire()];
  await failedAgain.end('connect-failed');
  await between.end('finished');
  await after.end('finished');
  expect(notes).toHaveLength(1);
  await (await acquire()).end('finished');
  expect(notes).toHaveLength(2);
  sockets.close();
});

test('a request that is given up while a browser does not answer leaves it free', async ({ ports }) => {
  const [port] = ports as [Port];
  const fixed = new FixedBrowsers([{ url: port.url, max: 1 }], () => undefined);
  port.isSilent = true;
  const givenUp = new AbortController();
  const acquiring = fixed.acquire({ signal: givenUp.signal });
  givenUp.abort(new Error('given up'));
  await expect(acquiring).rejects.toThrow('given up');
  port.isSilent = false;
  expect((await fixed.acquire({ signal: SIGNAL })).cdpUrl).toContain(port.url.slice(7));
});

test('checks before a run that one answers, and says what to do if none does', async ({ ports }) => {
  const fixed = new FixedBrowsers(
    ports.map(({ url }) => ({ url, max: 1 })),
    () => undefined,
  );
  for (const port of ports.slice(1)) port.isUp = false;
  await fixed.check(SIGNAL);
  for (const port of ports) port.isUp = false;
  const names = ports.map(({ url }) => url.slice(7)).join(', ');
  await expect(fixed.check(SIGNAL)).rejects.toThrow(
    `No browser answers at ${names}. Start one, for example \`chromium --headless --remote-debugging-port=9222\``,
  );
});

test('says what is wrong with a server that has no debugging port', async () => {
  const server = createServer((_request, response) => response.end('{"hello":1}'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const notes: string[] = [];
  const url = `http://user:s3cret@127.0.0.1:${(server.address() as AddressInfo).port}/base/?token=t0ken`;
  await new FixedBrowsers([{ url, max: 1 }], (text) => notes.push(text))
    .acquire({ signal: SIGNAL })
    .catch(() => undefined);
  expect(notes).toEqual([expect.stringContaining('it has no debugging port')]);
  expect(notes[0]).not.toMatch(/s3cret|t0ken/);
  server.close();
});
