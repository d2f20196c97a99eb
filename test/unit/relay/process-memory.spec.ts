import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@playwright/test';
import { processMemoryMB } from '../../../src/relay/lease-processes.ts';
import { requires } from '../../support/requires.ts';

test('counts the memory of a process and of what it has started', async () => {
  requires('Linux');
  const allocate = 'globalThis.all = Buffer.alloc(200e6, 1); console.log(1); process.stdin.resume()';
  // The shell itself has next to nothing, and waits for its child.
  const shell = spawn('sh', ['-c', `"$0" -e '${allocate}'; exit`, process.execPath], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exit = once(shell, 'exit');
  await once(shell.stdout, 'data');
  const pid = shell.pid ?? 0;
  expect(await processMemoryMB(pid)).toBeGreaterThan(200);
  shell.stdin.end();
  await exit;
  expect(await processMemoryMB(pid)).toBe(0);
});
