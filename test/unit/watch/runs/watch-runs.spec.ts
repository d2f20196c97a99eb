import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { watchRuns } from '../../../../src/watch/runs/watch-runs.ts';
import { requires } from '../../../support/requires.ts';

requires('POSIX');

/** Announces a broker of another version. */
async function announce(): Promise<{ directory: string; address: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'poolwright-'));
  const address = join(directory, 'broker.sock');
  await writeFile(join(directory, 'watch.json'), JSON.stringify({ version: 1, address, token: directory }), {
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
