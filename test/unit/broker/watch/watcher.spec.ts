import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@playwright/test';
import { Watcher } from '../../../../src/broker/watch/watcher.ts';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

test('pictures of closed pages do not add up, however long somebody watches', async () => {
  const watcher = new Watcher();
  watcher.wants([{ slot: 0, size: 'small' }]);
  const pictures: WeakRef<object>[] = [];
  for (let test = 0; test < 10; test += 1) {
    const target = `T${test}`;
    const picture = { slot: 0, target, url: 'http://x/', at: test, width: 8, height: 4, data: 'AAAA', bytes: 9 };
    pictures.push(new WeakRef(picture));
    const shown = watcher.offer(picture);
    for (const { number } of await watcher.take()) watcher.shown(number);
    await shown;
    watcher.pageClosed(0, target);
  }
  // A `WeakRef` holds what it refers to until the task ends.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  // The last one may still be in a register.
  expect(pictures.filter((picture) => picture.deref()).length).toBeLessThanOrEqual(1);
});
