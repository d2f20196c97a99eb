import { expect, test } from '@playwright/test';
import { type NewPicture, PageScreencast } from '../../../../src/cdp/screencast/page-screencast.ts';
import { FakeClock } from '../../../support/unit/broker/fake-clock.ts';

/** The pictures of one page, with the browser and the receiver played by the test. */

function started(perSecond = 4) {
  const clock = new FakeClock();
  const sent: string[] = [];
  const taken: string[] = [];
  let release = () => {};
  let busy = Promise.resolve();
  let bytes = 0;
  const log = (method: string, params?: object) =>
    sent.push(`${method.slice(5)} ${Object.values(params ?? {})[0] ?? ''}`.trim());
  const screencast = new PageScreencast(
    { post: (method, params) => log(method, params), call: async (method, params) => void log(method, params) },
    'session',
    { maxWidth: 100, maxHeight: 100, quality: 50, perSecond },
    {
      count: (more) => {
        bytes += more;
      },
      address: () => 'http://localhost/',
      take: async ({ data }: NewPicture) => {
        taken.push(data);
        await busy;
      },
    },
    clock,
  );
  void screencast.start();
  return {
    clock,
    sent,
    taken,
    screencast,
    bytes: () => bytes,
    frame: (data: string, number = 1) => screencast.onFrame({ data, sessionId: number, metadata: {} }),
    hold: () => {
      busy = new Promise((resolve) => {
        release = resolve;
      });
    },
    release: () => release(),
  };
}

/** The same after its first picture, and the pause that follows it. */
async function resumed(perSecond = 4) {
  const all = started(perSecond);
  all.frame('first');
  await all.clock.advance(1_000);
  for (const list of [all.sent, all.taken]) list.length = 0;
  return all;
}

test('pauses after the first picture until the pace allows the next one', async () => {
  const { clock, sent, taken, frame } = started();
  frame('a', 7);
  await clock.advance(0);
  expect(sent).toEqual(['startScreencast jpeg', 'stopScreencast']);
  // They were on their way.
  frame('b', 8);
  frame('c', 9);
  await clock.advance(250);
  expect(taken).toEqual(['a', 'c']);
  await clock.advance(250);
  expect(sent).toEqual(['startScreencast jpeg', 'stopScreencast', 'startScreencast jpeg']);
  frame('d', 10);
  await clock.advance(250);
  expect(taken).toEqual(['a', 'c', 'd']);
  expect(sent.at(-1)).toBe('screencastFrameAck 10');
});

test('acknowledges a picture when the receiver has taken it and the pace allows another', async () => {
  const { clock, sent, taken, frame, hold, release } = await resumed();
  hold();
  frame('a', 7);
  await clock.advance(2_000);
  expect(taken).toEqual(['a']);
  expect(sent).toEqual([]);
  release();
  await clock.advance(0);
  expect(sent).toEqual(['screencastFrameAck 7']);
  frame('b', 8);
  await clock.advance(200);
  expect(taken).toEqual(['a', 'b']);
  expect(sent).toHaveLength(1);
  await clock.advance(50);
  expect(sent.at(-1)).toBe('screencastFrameAck 8');
});

test('passes on only the newest of several pictures that have arrived meanwhile', async () => {
  const { clock, taken, frame, bytes } = await resumed();
  for (const data of ['a', 'bb', 'ccc']) frame(data);
  await clock.advance(0);
  expect(taken).toEqual(['a']);
  await clock.advance(250);
  expect(taken).toEqual(['a', 'ccc']);
  expect(bytes()).toBe('first'.length + 6);
});

test('starts again when the last change may be missing, once, and does not pass on a known picture', async () => {
  const { clock, sent, taken, frame } = await resumed();
  for (const data of ['a', 'b', 'c']) frame(data);
  await clock.advance(1_000);
  expect(sent.slice(-2)).toEqual(['stopScreencast', 'startScreencast jpeg']);
  frame('c', 2);
  await clock.advance(5_000);
  expect(taken).toEqual(['a', 'c']);
  expect(sent.filter((method) => method === 'stopScreencast')).toHaveLength(1);
  expect(sent.at(-1)).toBe('screencastFrameAck 2');
});

test('does not start again while the page keeps changing', async () => {
  const { clock, sent, taken, frame } = await resumed();
  for (const data of ['a', 'b', 'c']) frame(data);
  for (let number = 0; number < 20; number += 1) {
    await clock.advance(250);
    if (sent.at(-1)?.startsWith('screencastFrameAck')) frame(`next ${number}`);
  }
  expect(taken.length).toBeGreaterThan(10);
  expect(sent).not.toContain('stopScreencast');
});

test('does nothing anymore when it has ended', async () => {
  const { clock, sent, taken, frame, screencast } = await resumed();
  frame('a');
  await clock.advance(0);
  screencast.end();
  frame('b');
  await clock.advance(5_000);
  expect(taken).toEqual(['a']);
  expect(sent).toEqual([]);
  expect(clock.timers).toBe(0);
});
