import { spawn } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { expect, test } from '@playwright/test';
import { streamEnd } from '../../../../src/common/platform/streams.ts';

const ends: Record<string, (stream: PassThrough) => void> = {
  'ends in order': (stream) => stream.end(),
  'is destroyed': (stream) => stream.destroy(),
  // As a pipe of Windows may do whose other end was killed.
  'cannot be read': (stream) => stream.destroy(Object.assign(new Error('read EPIPE'), { code: 'EPIPE' })),
};

for (const [how, end] of Object.entries(ends)) {
  test(`a stream that ${how} counts as ended from then on`, async () => {
    const stream = new PassThrough().resume();
    let isOver = false;
    const ended = streamEnd(stream).then(() => {
      isOver = true;
    });
    stream.write('still here');
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    end(stream);
    await ended;
    await streamEnd(stream);
  });
}

test('a killed process counts as ended for its reader', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log("up")']);
  child.stdout.resume();
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGKILL');
  await streamEnd(child.stdout);
});
