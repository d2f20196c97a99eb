import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { localChromium } from '../local-chromium.ts';

export interface FarChromium {
  cdpUrl: string;
  close(): Promise<void>;
}

/** A port without a listener. */
const NOWHERE = '127.0.0.1:9';

/**
 * Starts a Chromium that reaches this machine's loopback, except the given hosts (`a.localhost`, `*.b.localhost`): it
 * cannot connect to them, as if they were in another machine's network.
 * @param here hosts that it resolves to this machine, as if they were on the internet
 * @param flags more switches for Chromium
 */
export async function startFarChromium(
  unreachable: string[],
  here: string[] = [],
  flags: string[] = [],
): Promise<FarChromium> {
  const profile = await mkdtemp(join(tmpdir(), 'poolwright-far-'));
  const path = await localChromium();
  const rules = [
    ...unreachable.map((host) => `MAP ${host}:* ${NOWHERE}`),
    ...here.map((host) => `MAP ${host} 127.0.0.1`),
  ].join(',');
  const child = spawn(
    path,
    [
      '--headless',
      '--remote-debugging-port=0',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-gpu',
      // This machine's loopback acts as the internet: every page may send requests to it.
      '--disable-features=LocalNetworkAccessChecks',
      `--user-data-dir=${profile}`,
      `--host-resolver-rules=${rules}`,
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      ...flags,
      'about:blank',
    ],
    // A separate process group: the Chromium of a distribution may be a script that starts it.
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  const exited = once(child, 'exit');
  const close = async () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await exited;
    // Its helper processes write to the directory for a moment longer.
    await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  for await (const line of createInterface({ input: child.stderr })) {
    const [, cdpUrl] = /^DevTools listening on (ws:\S+)$/.exec(line) ?? [];
    if (cdpUrl === undefined) continue;
    child.stderr.resume();
    return { cdpUrl, close };
  }
  await close();
  throw new Error(`${path} ended before it listened`);
}
