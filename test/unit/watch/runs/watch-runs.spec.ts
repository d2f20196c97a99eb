import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { PROTOCOL_VERSION } from '../../../../src/broker/rpc/line-socket.ts';
import { watchRuns } from '../../../../src/watch/runs/watch-runs.ts';
import { requires } from '../../../support/requires.ts';

requires('POSIX');

/** Announces a broker. @param version default: another one than ours */
async function announce(version = 1): Promise<{ directory: string; address: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'poolwright-'));
  const address = join(directory, 'broker.sock');
  await writeFile(join(directory, 'watch.json'), JSON.stringify({ version, address, token: directory }), {
    mode: 0o600,
  });
  return { directory, address };
}

test('reports a run of another version, and none that was killed', async () => {
  const [killed, alive] = [await announce(), await announce()];
  const connections: unknown[] = [];
  const server = createServer((socket) => connections.push(socket.resume()));
  server.listen(alive.address);
  await once(server, 'listening');
  let reported = 0;
  const runs = watchRuns(() => {
    reported += 1;
  });
  try {
    await expect.poll(() => reported).toBe(1);
    // Both were found at the same time.
    expect(connections).toHaveLength(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(reported).toBe(1);
  } finally {
    await runs.close();
    server.close();
    for (const { directory } of [killed, alive]) await rm(directory, { recursive: true });
  }
});

test('ends its connection to a run that responds after the end', async () => {
  const { directory, address } = await announce(PROTOCOL_VERSION);
  const server = createServer().listen(address);
  const connected = once(server, 'connection');
  const runs = watchRuns();
  const [socket] = await connected;
  try {
    await runs.close();
    const ended = once(socket, 'close');
    const [hello] = String(await once(socket, 'data')).split('\n');
    socket.resume();
    socket.write(`${JSON.stringify({ id: JSON.parse(String(hello)).id, result: { slot: null } })}\n`);
    await ended;
  } finally {
    server.close();
    await rm(directory, { recursive: true });
  }
});
