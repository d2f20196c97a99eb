import type { CDPSession } from '@playwright/test';
import { LinkDirection } from '../../../src/emulator/cdp/link-direction.ts';
import { seededRandom } from '../../../src/emulator/faults/fault-list.ts';
import { expect, test } from '../../support/emulator/fixtures.ts';
import { socketPair } from './socket-pair.ts';

const stub = { browser: 'stub' } as const;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

test.describe('a CDP link with a round-trip time', () => {
  const RTT = 200;

  test('delays every response, once for simultaneous commands', async ({ start, connect }) => {
    const { api } = await start({ ...stub, rtt: RTT });
    const { cdpUrl } = (await api.create()).body;
    let cdp: CDPSession | undefined;
    // The handshake and at least one command.
    expect(
      await timed(async () => {
        cdp = await (await connect(cdpUrl)).newBrowserCDPSession();
      }),
    ).toBeGreaterThanOrEqual(2 * RTT - 2);
    const ask = () => cdp?.send('Browser.getVersion') as Promise<unknown>;
    expect(await timed(ask)).toBeGreaterThanOrEqual(RTT - 2);
    const COMMANDS = 50;
    const many = await timed(() => Promise.all(Array.from({ length: COMMANDS }, ask)));
    expect(many).toBeGreaterThanOrEqual(RTT - 2);
    // In sequence they would take COMMANDS × RTT; a busy machine adds less than half of that.
    expect(many).toBeLessThan((COMMANDS * RTT) / 2);
  });

  test('carries a real browser and large messages whole', async ({ start, connect }) => {
    const { api } = await start({ rtt: 20 });
    const page = await (await connect((await api.create()).body.cdpUrl)).newPage();
    const text = 'äx'.repeat(1_000_000);
    expect(await page.evaluate((value) => value, text)).toBe(text);
  });

  test('reports the end of a browser', async ({ start, connect }) => {
    const { api } = await start({ ...stub, rtt: RTT });
    const { sessionId, cdpUrl } = (await api.create()).body;
    const browser = await connect(cdpUrl);
    const closed = new Promise((resolve) => browser.once('disconnected', resolve));
    await api.stop(sessionId);
    await closed;
  });

  test('keeps the order, and slows down a sender that is faster than the reader', async () => {
    const [near, far] = [await socketPair(), await socketPair()];
    const wire = new LinkDirection(near.server, far.client, 50);
    const began = performance.now();
    const chunk = Buffer.alloc(1024 ** 2);
    const CHUNKS = 80;
    for (let index = 0; index < CHUNKS; index++) {
      const numbered = Buffer.from(chunk);
      numbered.writeUInt32BE(index);
      near.client.write(numbered);
    }
    near.client.end();
    const allArrived = new Promise<void>((resolve) => near.server.once('end', () => wire.after(resolve)));
    // The other side does not read: the data in transit stays limited, and the sender keeps the rest.
    await expect.poll(() => near.server.isPaused()).toBe(true);
    expect(near.server.bytesRead).toBeLessThan(60 * 1024 ** 2);
    const parts: Buffer[] = [];
    for await (const part of far.server) parts.push(part as Buffer);
    expect(performance.now() - began).toBeGreaterThanOrEqual(49);
    const all = Buffer.concat(parts);
    expect(all.length).toBe(CHUNKS * chunk.length);
    const order = Array.from({ length: CHUNKS }, (_, index) => all.readUInt32BE(index * chunk.length));
    expect(order).toEqual([...order.keys()]);
    await allArrived;
    for (const socket of [near.client, near.server, far.client, far.server]) socket.destroy();
  });
});

test.describe('slow starts', () => {
  test('take the configured time, with jitter from the seed', async ({ start }) => {
    const [startDelay, startJitter] = [100, 200];
    const waits = (seed: number) => {
      const random = seededRandom(seed, 'start-jitter');
      return Array.from({ length: 4 }, () => startDelay + random() * startJitter);
    };
    // A busy machine only lengthens a start, so the delay drawn from the seed is the minimum.
    for (const seed of [3, 4]) {
      const { api } = await start({ ...stub, startDelay, startJitter, seed });
      for (const wait of waits(seed)) expect(await timed(() => api.create())).toBeGreaterThanOrEqual(wait - 2);
    }
    expect(waits(3)).toEqual(waits(3));
    expect(Math.max(...waits(3), ...waits(4)) - Math.min(...waits(3), ...waits(4))).toBeGreaterThan(startJitter / 2);
  });

  test('count against the startup deadline, and can be stopped', async ({ start }) => {
    const { api } = await start({ ...stub, startDelay: 60_000, startupDeadline: 300 });
    expect(await api.create()).toEqual({
      status: 504,
      body: { error: 'The browser did not become ready within the startup deadline of 0.3 s' },
    });
    expect((await api.get('/sessions?status=error')).body.total).toBe(1);

    const { api: slow } = await start({ ...stub, startDelay: 60_000, startupDeadline: 120_000 });
    const creating = slow.create();
    let sessionId: string | undefined;
    await expect
      .poll(async () => {
        sessionId = (await slow.get('/sessions?status=starting')).body.sessions[0]?.sessionId;
        return sessionId;
      })
      .toBeDefined();
    await slow.stop(sessionId as string);
    expect((await creating).body.status).toBe('completed');
  });
});

test.describe('an error rate', () => {
  test('fails that share of requests, as a service does', async ({ start }) => {
    const { api, baseURL, apiKey } = await start({ ...stub, errorRate: 0.4, seed: 11 });
    const statuses: number[] = [];
    for (let index = 0; index < 300; index++) {
      const answer = await fetch(`${baseURL}/v1/browser/pools`, { headers: { authorization: `Bearer ${apiKey}` } });
      statuses.push(answer.status);
      if (answer.status === 503) expect(answer.headers.get('retry-after')).toBe('2');
      if (answer.status === 502) expect(answer.headers.get('content-type')).toContain('text/html');
      await answer.text();
    }
    const shareOf = (...wanted: number[]) => statuses.filter((status) => wanted.includes(status)).length / 300;
    const failed = shareOf(429, 500, 502, 503);
    expect(failed).toBeGreaterThan(0.3);
    expect(failed).toBeLessThan(0.5);
    for (const status of [429, 500, 502, 503]) expect(shareOf(status)).toBeGreaterThan(0.05);
    const { body } = await api.call('GET', '/__emulator/faults');
    const fired = body.faults.reduce((sum: number, fault: { fired: number }) => sum + fault.fired, 0);
    expect(fired / 300).toBe(failed);
    await api.call('DELETE', '/__emulator/faults');
    expect((await api.get('/pools')).status).toBe(200);
  });
});

for (const [option, value] of [
  ['rtt', -1],
  ['rtt', 10_001],
  ['startDelay', 'long'],
  ['startJitter', -5],
  ['errorRate', 1.5],
  ['seed', 0.5],
] as const) {
  test(`${option}: ${value} is refused`, async ({ start }) => {
    const started = start({ ...stub, [option]: value });
    await expect(started).rejects.toMatchObject({ code: 'OPTIONS_INVALID', field: option });
  });
}
