import { expect, test } from '@playwright/test';
import { type Moving, replaceFile } from '../../../src/common/write-atomically.ts';

/** A file that is held open for so many tries. */
function held(tries: number, code = 'EPERM', platform: NodeJS.Platform = 'win32') {
  const seen = { tries: 0, waited: 0 };
  const moving: Moving = {
    platform,
    move: async () => {
      seen.tries++;
      if (seen.tries <= tries) throw Object.assign(new Error(`${code}: held`), { code });
    },
    wait: async (ms) => {
      seen.waited += ms;
    },
  };
  return { seen, moved: replaceFile('from', 'to', moving) };
}

test('Windows: waits for a file that a virus scanner has open', async () => {
  for (const code of ['EPERM', 'EACCES', 'EBUSY']) {
    const { seen, moved } = held(3, code);
    await moved;
    expect(seen.tries).toBe(4);
  }
});

test('Windows: stops waiting after its time limit', async () => {
  const { seen, moved } = held(Number.POSITIVE_INFINITY);
  await expect(moved).rejects.toThrow('EPERM: held');
  expect(seen.waited).toBeLessThan(1_000);
});

test('does not retry other errors, or on other systems', async () => {
  for (const [code, platform] of [
    ['ENOSPC', 'win32'],
    ['EPERM', 'linux'],
    ['EACCES', 'darwin'],
  ] as const) {
    const { seen, moved } = held(1, code, platform);
    await expect(moved).rejects.toThrow(code);
    expect(seen.tries).toBe(1);
  }
});
