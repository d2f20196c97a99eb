import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface FinishedRun {
  /** From the start of the process to its exit. */
  seconds: number;
  code: number | null;
  output: string;
}

/** A user's shell has nothing of ours in it, and nothing of a Playwright run that this may be part of. */
const NOT_A_USERS = /^(POOLWRIGHT_|BENCH_|TEST_|PW_|PLAYWRIGHT_|GITHUB_|NODE_OPTIONS$|CI$|DEBUG$|FORCE_COLOR$)/;

/** Runs `playwright test` with this command line and these variables, to its end. */
export async function runPlaywright(
  cli: string,
  args: string[],
  cwd: string,
  env: Record<string, string>,
): Promise<FinishedRun> {
  const own = Object.entries(process.env).filter(([name]) => !NOT_A_USERS.test(name));
  const since = performance.now();
  const child = spawn(process.execPath, [cli, 'test', ...args], {
    cwd,
    env: { ...Object.fromEntries(own), NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const closed = once(child, 'close');
  const [code] = await once(child, 'exit');
  const seconds = (performance.now() - since) / 1000;
  await closed;
  return { seconds, code, output };
}
