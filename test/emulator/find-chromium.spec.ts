import { findChromium } from '../../src/emulator/find-chromium.ts';
import { expect, test } from './support/fixtures.ts';

test.describe('Chromium', () => {
  test('is the option, else the one that the variable names', async ({ fakeChromium }) => {
    const path = await fakeChromium('');
    const environment = { POOLWRIGHT_CHROMIUM: '/bin/sh', PATH: '' };
    expect(await findChromium(path, environment)).toEqual({ path, source: 'option' });
    expect(await findChromium(undefined, environment)).toEqual({ path: '/bin/sh', source: 'POOLWRIGHT_CHROMIUM' });
  });

  test('is never silently another than the one that was named, though the system has one', async ({ folder }) => {
    await expect(findChromium(`${folder}/none`)).rejects.toMatchObject({
      code: 'EMULATOR_NO_CHROMIUM',
      message: expect.stringContaining(`The option "chromium" names ${folder}/none, which does not exist`),
    });
    await expect(findChromium(undefined, { ...process.env, POOLWRIGHT_CHROMIUM: folder })).rejects.toMatchObject({
      message: expect.stringContaining('The variable POOLWRIGHT_CHROMIUM names'),
    });
  });

  test('is found on the PATH', async ({ fakeChromium, folder }) => {
    const path = await fakeChromium('');
    const found = await findChromium(undefined, { PATH: `/nowhere:${folder}` });
    // Playwright's own download comes first, where this machine has it.
    expect(found.source === 'playwright' ? path : found.path).toBe(path);
  });
});
