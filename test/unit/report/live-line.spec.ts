import { expect, test } from '@playwright/test';
import { BROKER_VARIABLE } from '../../../src/broker/rpc/shared-broker.ts';
import { LiveLine } from '../../../src/report/live/live-line.ts';

/** When the live line is shown: on an interactive terminal without other output of poolwright. */

const ADDRESS = JSON.stringify({ address: '/nowhere/broker.sock', token: 'token-0123', runner: process.pid });

interface Place {
  env?: Record<string, string>;
  stdout?: boolean;
  stderr?: boolean;
}

/** Whether it is shown if both streams are terminals, except for these differences. */
function isShown({ env = {}, stdout = true, stderr = true }: Place): boolean {
  const environment = process.env;
  const streams = [process.stdout, process.stderr].map((stream) => ({ stream, isTTY: stream.isTTY }));
  process.env = { TERM: 'xterm-256color', [BROKER_VARIABLE]: ADDRESS, ...env };
  process.stdout.isTTY = stdout;
  process.stderr.isTTY = stderr;
  try {
    const line = LiveLine.start();
    line?.stop();
    return line !== null;
  } finally {
    process.env = environment;
    for (const { stream, isTTY } of streams) stream.isTTY = isTTY;
  }
}

const places: Record<string, [place: Place, shown: boolean]> = {
  'on a terminal it is': [{}, true],
  'with other logs it is': [{ env: { DEBUG: 'pw:api' } }, true],
  'without a broker it is not': [{ env: { [BROKER_VARIABLE]: '' } }, false],
  'in CI it is not': [{ env: { CI: '1' } }, false],
  'where no cursor can be moved it is not': [{ env: { TERM: 'dumb' } }, false],
  "with the broker's log it is not": [{ env: { DEBUG: 'poolwright:*' } }, false],
  'where the output goes through a pipe it is not': [{ stdout: false }, false],
  'where errors go through a pipe it is not': [{ stderr: false }, false],
};

for (const [name, [place, shown]] of Object.entries(places)) {
  test(name, () => {
    expect(isShown(place)).toBe(shown);
  });
}
