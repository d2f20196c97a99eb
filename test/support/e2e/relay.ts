import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { startCli } from '../cli-process.ts';
import { descendants } from './process-tree.ts';

const root = resolve(import.meta.dirname, '../../..');
/** An account without rights, for leases of a relay that root starts. */
const NOBODY = '65534:65534';
const SECRET = 'the secret of a test, long enough';

/** A relay on this machine. */
export interface TestRelay {
  pid: number;
  /** The variables that a user sets in the shell of the tests. */
  env: Record<string, string>;
  /** The processes of leases and what they have written. */
  left(): string[];
  /** Returns the exit code. */
  stop(): Promise<number | null>;
}

/** Starts a relay of the built package. @param playwright the directory of its Playwright versions */
export async function startRelay({ playwright = root, args = [] as string[] } = {}): Promise<TestRelay> {
  const user = process.getuid?.() === 0 ? ['--user', NOBODY] : [];
  const relay = await startCli(
    ['relay', '--json', '--allow', '127.0.0.1', '--allow-private', '--playwright', playwright, ...user, ...args],
    { POOLWRIGHT_RELAY_SECRET: SECRET },
  );
  const { port, pid } = relay.answer;
  return {
    pid,
    env: { POOLWRIGHT_RELAY: `ws://127.0.0.1:${port}`, POOLWRIGHT_RELAY_SECRET: SECRET },
    left: () => [
      // Those that have ended, but not for a relay that hangs, have no command.
      ...descendants(pid).flatMap(({ command }) => command || []),
      ...directories(pid),
    ],
    stop: relay.stop,
  };
}

/** Other relays of this machine have theirs. */
function directories(relay: number): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith(`poolwright-relay-${relay}-`));
}
