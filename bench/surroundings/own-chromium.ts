import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromiumEnvironment, probeArguments } from '../../src/emulator/chromium/arguments.ts';
import { killGroup } from '../../src/emulator/chromium/kill-group.ts';

/** A Chromium without the emulator, with the emulator's arguments. */
export interface OwnChromium {
  /** Its own address for CDP. */
  cdpUrl: string;
  stop(): Promise<void>;
}

const PIPE = '--remote-debugging-pipe';
const LISTENING = /^DevTools listening on (ws:\S+)$/;

/** Starts a Chromium that listens on its own port. */
export async function startOwnChromium(chromium: string): Promise<OwnChromium> {
  const directory = await mkdtemp(join(tmpdir(), 'poolwright-bench-'));
  const args = [
    ...probeArguments(directory, []).filter((argument) => argument !== PIPE),
    '--remote-debugging-port=0',
    'about:blank',
  ];
  // A process group: what is started may be a script around the browser, which a signal alone would end.
  const child = spawn(chromium, args, {
    env: chromiumEnvironment(),
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const stop = async () => {
    const closed = once(child, 'close');
    if (child.pid !== undefined) killGroup(child.pid);
    await closed;
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  return { cdpUrl: await addressOf(child), stop };
}

/** Starts so many of them. */
export async function startOwnChromiums(chromium: string, count: number) {
  const all = await Promise.all(Array.from({ length: count }, () => startOwnChromium(chromium)));
  return {
    addresses: all.map(({ cdpUrl }) => cdpUrl),
    remove: async () => {
      for (const each of all) await each.stop();
    },
  };
}

async function addressOf(child: ChildProcess): Promise<string> {
  if (!child.stderr) throw new Error('Chromium has no stderr');
  const lines = createInterface({ input: child.stderr });
  return await new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const address = LISTENING.exec(line)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', (code) => reject(new Error(`Chromium ended with ${code} before it listened`)));
    child.once('error', reject);
  });
}
