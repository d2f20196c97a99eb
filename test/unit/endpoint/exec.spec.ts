import { existsSync } from 'node:fs';
import { expect } from '@playwright/test';
import { commandEnvironment, exitCodeOf, runCommand, withPlaces } from '../../../src/endpoint/exec.ts';
import { test } from '../../support/unit/reporter-fixtures.ts';

test('replaces the places in arguments, and nothing else', () => {
  const values = { endpoint: 'ws://e', port: '7', program: '/p' };
  expect(withPlaces('--a={program} {endpoint}{endpoint} {port} {}', values)).toBe('--a=/p ws://ews://e 7 {}');
  expect(withPlaces('{ports}', values)).toBe('{ports}');
  expect(withPlaces('{constructor}$&', values)).toBe('{constructor}$&');
});

test('a command that a signal has ended has the exit code of a shell', () => {
  expect(exitCodeOf({ code: 7 })).toBe(7);
  expect(exitCodeOf({ signal: 'SIGKILL' })).toBe(137);
  expect(exitCodeOf({ signal: 'SIGINT' })).toBe(130);
});

test('a command that ignores SIGTERM gets SIGKILL, and the user is told what is waited for', async ({
  stderrOf,
}, testInfo) => {
  const ready = testInfo.outputPath('ready');
  const script = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); require('fs').writeFileSync(process.argv[1], '')`;
  const asked = expect.poll(() => existsSync(ready), { timeout: 60_000 }).toBe(true);
  let end: unknown;
  const said = await stderrOf(async () => {
    const limits = { noticeMs: 10, endMs: 500 };
    end = await runCommand(
      ['node', '-e', script, ready],
      { url: 'ws://e', openPort: async () => 7 },
      '/p',
      asked,
      limits,
    );
  });
  expect(end).toEqual({ signal: 'SIGKILL' });
  expect(said).toMatch(/^poolwright: waiting for `node` \(process \d+\) to end\. At 0\.5 s, it gets SIGKILL$/m);
});

test('a command gets the endpoint, and no other secret of the run', () => {
  const own = {
    PATH: '/bin',
    POOLWRIGHT_API_KEY: 'key',
    POOLWRIGHT_CDP_URL: 'wss://a/?token=1',
    POOLWRIGHT_RELAY_SECRET: 'secret',
    POOLWRIGHT_BROKER: '{"token":"broker"}',
    POOLWRIGHT_WORKER: '{}',
    CHROME_PATH: '/usr/bin/chromium',
  };
  expect(commandEnvironment(own, { url: 'ws://e', program: '/p' })).toEqual({
    PATH: '/bin',
    CHROME_PATH: '/p',
    CHROME_BIN: '/p',
    PUPPETEER_EXECUTABLE_PATH: '/p',
    PLAYWRIGHT_MCP_EXECUTABLE_PATH: '/p',
    POOLWRIGHT_ENDPOINT: 'ws://e',
  });
  expect(own.POOLWRIGHT_API_KEY).toBe('key');
});
