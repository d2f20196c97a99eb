import { expect, test } from '@playwright/test';
import { childEnvironment } from '../../../src/common/platform/processes.ts';

test("a program outside of the run gets none of poolwright's variables", () => {
  const before = { ...process.env };
  try {
    Object.assign(process.env, {
      POOLWRIGHT_API_KEY: 'key',
      POOLWRIGHT_CDP_URL: 'ws://host/token',
      POOLWRIGHT_RELAY_SECRET: 'secret',
      POOLWRIGHT_BROKER: '{}',
      POOLWRIGHT_CHROMIUM: '/chromium',
      OWN_VARIABLE: 'kept',
    });
    expect(Object.keys(childEnvironment()).filter((name) => name.startsWith('POOLWRIGHT_'))).toEqual([]);
    expect(childEnvironment()).toMatchObject({ OWN_VARIABLE: 'kept', PATH: before.PATH });
    expect(childEnvironment(['POOLWRIGHT_CHROMIUM'])).toMatchObject({ POOLWRIGHT_CHROMIUM: '/chromium' });
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
});
