import { Writable } from 'node:stream';
import { setImmediate as nextTask } from 'node:timers/promises';
import { expect, test } from '@playwright/test';
import { writeTogether } from '../../../../src/common/platform/streams.ts';

/** What one task writes leaves in one system call, before anything else happens. */

test('joins what one task writes, and nothing of another', async () => {
  const calls: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (text, _encoding, done) => {
      calls.push(text);
      done();
    },
    writev: (chunks, done) => {
      calls.push(chunks.map(({ chunk }) => chunk).join('+'));
      done();
    },
  });
  const write = (text: string) => {
    writeTogether(stream);
    stream.write(text);
  };
  write('a');
  write('b');
  expect(calls).toEqual([]);
  // Microtasks belong to the task.
  await Promise.resolve().then(() => write('c'));
  await nextTask();
  expect(calls).toEqual(['a+b+c']);
  write('d');
  await nextTask();
  expect(calls).toEqual(['a+b+c', 'd']);
  expect(stream.writableCorked).toBe(0);
});

test('a stream that is destroyed meanwhile throws nothing', async () => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
  writeTogether(stream);
  stream.write('a');
  stream.destroy();
  await nextTask();
  expect(stream.destroyed).toBe(true);
});
