import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@playwright/test';
import { Watcher } from '../../../../src/broker/watch/watcher.ts';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

const PAGES = 100;
const BYTES = 100_000;

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

test('keeps no picture of a closed page, however long it watches', async () => {
  const watcher = new Watcher();
  watcher.wants([{ slot: 0, size: 'large' }]);
  const before = heapBytes();
  for (let page = 0; page < PAGES; page += 1) {
    // Not repeated or concatenated, which would share memory.
    const data = Buffer.alloc(BYTES, `${page} `).toString('latin1');
    const target = `T${page}`;
    const shown = watcher.offer({ slot: 0, target, url: 'http://x/', at: 1, width: 8, height: 4, data, bytes: BYTES });
    for (const { number } of await watcher.take()) watcher.shown(number);
    await shown;
    watcher.pageClosed(0, target);
  }
  expect(heapBytes() - before).toBeLessThan((PAGES * BYTES) / 10);
  watcher.gone();
});
