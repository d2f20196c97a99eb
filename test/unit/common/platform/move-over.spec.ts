import { expect, test } from '@playwright/test';
import { type Moving, moveOver } from '../../../../src/common/platform/move-over.ts';

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
  return { seen, moved: moveOver('from', 'to', moving) };
}

test('Windows: a file that a virus scanner has open is waited for', async () => {
  for (const code of ['EPERM', 'EACCES', 'EBUSY']) {
    const { seen, moved } = held(3, code);
    await moved;
    expect(seen.tries).toBe(4);
  }
});

test('Windows: not for ever', async () => {
  const { seen, moved } = held(Number.POSITIVE_INFINITY);
  await expect(moved).rejects.toThrow('EPERM: held');
  expect(seen.waited).toBeLessThan(1_000);
});

test('nothing else is tried again, and nothing anywhere else', async () => {
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
