import { spawnSync } from 'node:child_process';
import { test } from '@playwright/test';

/** The only way to skip a test: scripts/tally.mjs counts skipped tests by these reasons. */

const isRoot = () => process.getuid?.() === 0;

/** Starts a program in separate namespaces, as root or as another user. */
export const UNSHARE = ['unshare', ...(isRoot() ? [] : ['--user', '--map-root-user'])] as [string, ...string[]];

/** Whether a program can be started with these namespaces. A container may forbid this. */
function unshares(args: readonly string[]): boolean {
  const [unshare, ...user] = UNSHARE;
  return spawnSync(unshare, [...user, ...args]).status === 0;
}

/** What a test may need of its machine. The name completes the sentence "needs …". */
const NEEDS = {
  Linux: () => process.platform === 'linux',
  POSIX: () => process.platform !== 'win32',
  root: isRoot,
  unshare: () =>
    process.platform === 'linux' &&
    unshares(['--mount', '--propagation', 'private', 'mount', '--bind', '/tmp', '/tmp']) &&
    unshares(['--mount', '--pid', '--fork', '--kill-child', '--mount-proc', 'true']),
  curl: () => spawnSync('curl', ['--version']).status === 0,
} satisfies Record<string, () => boolean>;

/** What a test may need that it finds out itself. */
type OwnNeed =
  | 'full Chromium'
  | 'IPv6'
  | 'a host name with a local address'
  | 'a network interface'
  | 'a longer queue of connections'
  | 'a system with an identity';

const known = new Map<keyof typeof NEEDS, boolean>();

/** Whether this machine has it. */
function has(need: keyof typeof NEEDS): boolean {
  const met = known.get(need) ?? NEEDS[need]();
  known.set(need, met);
  return met;
}

/** Skips the test, or the tests of the group or file that calls this, where the machine lacks what they need. */
export function requires(need: keyof typeof NEEDS): void {
  requiresFound(need, has(need));
}

/** As {@link requires}, for what the test has found out itself. */
export function requiresFound(need: OwnNeed | keyof typeof NEEDS, found: boolean): void {
  // biome-ignore lint/suspicious/noSkippedTests: all skips pass here
  test.skip(!found, `needs ${need}`);
}
