import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { test as base, expect } from '../../support/e2e/fixtures.ts';
import { isRunning } from '../../support/processes.ts';
import { slowIf } from '../../support/property-runs.ts';
import { requires } from '../../support/requires.ts';

/** `poolwright emulator` as users start it: in the background of a shell, with npx or directly. */

interface Started {
  baseURL: string;
  apiKey: string;
  /** The emulator's process ID. */
  pid: number;
}

const test = base.extend<{
  project: Consumer;
  shell: (command: string) => { child: ChildProcess; started: Promise<Started> };
}>({
  project: async ({ newConsumer }, use) => {
    const consumer = await newConsumer();
    const bin = join('node_modules', '.bin');
    await consumer.write({ [join(bin, '.keep')]: '' });
    await symlink('../poolwright/dist/cli.js', join(consumer.directory, bin, 'poolwright'));
    await use(consumer);
  },
  shell: async ({ project }, use) => {
    const emulators: number[] = [];
    await use((command) => {
      const child = spawn('sh', ['-c', command], { cwd: project.directory, stdio: ['ignore', 'pipe', 'inherit'] });
      const lines = createInterface({ input: child.stdout });
      const started = once(lines, 'line').then(([line]) => {
        const answer = JSON.parse(line) as Started;
        emulators.push(answer.pid);
        return answer;
      });
      return { child, started };
    });
    for (const pid of emulators.filter(isRunning)) process.kill(pid, 'SIGTERM');
    await expect.poll(() => emulators.filter(isRunning)).toEqual([]);
  },
});

requires('Linux');

/** Creates a session; returns the processes of its browser. */
async function browserOf({ baseURL, apiKey, pid }: Started): Promise<number[]> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const made = await fetch(`${baseURL}/v1/browser/session`, { method: 'POST', headers, body: '{}' });
  expect(made.status).toBe(200);
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.trim().split(/\s+/).map(Number);
}

const CLI = 'poolwright emulator --json';

test('emulator › ends when SIGTERM or SIGKILL ends the npx that started it', async ({ shell }) => {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const { child, started } = shell(`exec npx --no-install ${CLI}`);
    const emulator = await started;
    const browsers = await browserOf(emulator);
    expect(browsers.filter(isRunning)).not.toEqual([]);
    child.kill(signal);
    await expect.poll(() => isRunning(emulator.pid)).toBe(false);
    expect(browsers.filter(isRunning)).toEqual([]);
  }
});

for (const command of [
  `nohup npx --no-install ${CLI} &`,
  `nohup node_modules/.bin/${CLI} &`,
  `node_modules/.bin/${CLI} &`,
]) {
  test(
    `emulator › outlives the shell that started it: ${command}`,
    slowIf(!command.includes('npx')),
    async ({ shell }) => {
      const { child, started } = shell(`${command} read _`);
      const emulator = await started;
      const exited = child.exitCode === null ? once(child, 'exit') : Promise.resolve();
      await exited;
      // It must not end, and no event reports that: wait three times as long as the emulator takes to notice a missing
      // npx.
      await setTimeout(1_500);
      expect((await fetch(`${emulator.baseURL}/doc`)).status).toBe(200);
    },
  );
}
