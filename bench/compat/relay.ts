import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const SECRET = 'the secret of the compatibility suite';

/** A relay of the built package on this machine. */
export interface CompatRelay {
  /** What a user sets in the shell of the tests. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** @param browsers directory of Playwright's ffmpeg, readable for everyone */
export async function startRelay(browsers: string): Promise<CompatRelay> {
  const flags = ['--json', '--allow', '127.0.0.1', '--allow-private'];
  const user = process.getuid?.() === 0 ? ['--user', '65534:65534'] : [];
  const child = spawn(process.execPath, ['dist/cli.js', 'relay', ...flags, ...user], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, POOLWRIGHT_RELAY_SECRET: SECRET, PLAYWRIGHT_BROWSERS_PATH: browsers },
  });
  const exit = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([once(lines, 'line'), exit.then(() => Promise.reject(new Error('no relay')))]);
  return {
    env: { POOLWRIGHT_RELAY: `ws://127.0.0.1:${JSON.parse(line).port}`, POOLWRIGHT_RELAY_SECRET: SECRET },
    stop: async () => {
      child.kill('SIGTERM');
      await exit;
    },
  };
}
