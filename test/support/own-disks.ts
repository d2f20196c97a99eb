import { spawnSync } from 'node:child_process';

/**
 * Whether an unprivileged program on this machine can give another program a separate disk. A container may forbid
 * this.
 */
export const hasOwnDisks =
  process.platform === 'linux' &&
  spawnSync('unshare', [
    ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']),
    ...['--mount', '--propagation', 'private', 'mount', '--bind', '/tmp', '/tmp'],
  ]).status === 0;
