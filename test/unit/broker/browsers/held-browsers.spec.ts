import { expect, test } from '@playwright/test';
import { HeldBrowsers, leaseTo, markEnded, markEnding } from '../../../../src/broker/browsers/held-browser.ts';
import { FakeClock } from '../../../support/unit/broker/fake-clock.ts';
import { freshBrowser } from '../../../support/unit/broker/held-parts.ts';

/** The browsers that the broker holds, by state. */

function bookOf(...names: string[]) {
  const clock = new FakeClock();
  const browsers = new HeldBrowsers();
  const all = names.map((name) => freshBrowser(clock, name));
  for (const held of all) browsers.add(held);
  return { clock, browsers, all };
}

const names = (from: readonly { record: { sessionId: string } }[]) => from.map(({ record }) => record.sessionId);

test('a browser counts towards the limit until it is ending, and stays known after that', () => {
  const { clock, browsers, all } = bookOf('a', 'b', 'c', 'd');
  const [a, b, c] = all;
  if (!a || !b || !c) throw new Error('no browsers');
  leaseTo(a, {}, { project: 'p', index: 0 }, 0, clock.now());
  markEnding(b, 'idle', clock.now());
  markEnding(c, 'lost', clock.now());
  markEnded(c, clock.now());
  expect(names(browsers.held)).toEqual(['a', 'd']);
  expect(names(browsers.ending)).toEqual(['b']);
  expect(names(browsers.all)).toEqual(['a', 'b', 'c', 'd']);
  expect(browsers.get('c')).toMatchObject({ state: 'ended', record: { endReason: 'lost' } });
  expect(browsers.get('foreign')).toBe(null);
});

test('a worker holds its leased browsers until they are ending', () => {
  const { clock, browsers, all } = bookOf('a', 'b', 'c');
  const [worker, other] = [{}, {}];
  const slot = { project: 'p', index: 0 };
  for (const [n, held] of all.entries()) leaseTo(held, n === 1 ? other : worker, slot, 0, clock.now());
  expect(names(browsers.leasedBy(worker))).toEqual(['a', 'c']);
  const [a] = all;
  if (a) markEnding(a, 'finished', clock.now());
  expect(names(browsers.leasedBy(worker))).toEqual(['c']);
});
