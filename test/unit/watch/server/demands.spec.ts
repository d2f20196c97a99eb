import { expect, test } from '@playwright/test';
import type { WatchedRun, WatchPicture } from '../../../../src/broker/watch/view.ts';
import { Demands } from '../../../../src/watch/server/demands.ts';
import type { PageConnection } from '../../../../src/watch/server/page-connection.ts';

test('a page that joins gets the latest pictures of a slot, however many pages it had before', async () => {
  const targets = Array.from({ length: 30 }, (_, n) => `T${n}`);
  const slots = [{ slot: 0, pages: targets.map((target) => ({ target })) }];
  const run = { view: { id: 'run', slots } } as unknown as WatchedRun;
  const offered: string[] = [];
  const offer = (_run: WatchedRun, { target }: WatchPicture) => {
    offered.push(target);
    return Promise.resolve();
  };
  const page = { offer } as unknown as PageConnection;
  const demands = new Demands({ all: [run] } as never, new Set([page]));
  // The first page is open all the time.
  for (const target of targets) {
    await demands.send(run, { slot: 0, target } as WatchPicture);
    await demands.send(run, { slot: 0, target: 'T0' } as WatchPicture);
  }
  offered.length = 0;
  demands.catchUp(page);
  expect(offered).toEqual([...targets.slice(11), 'T0']);
});
