import { spawnSync } from 'node:child_process';

/** Whether this machine lets an ordinary program give another one a disk of its own. A container may not. */
export const hasOwnDisks =
  process.platform === 'linux' &&
  spawnSync('unshare', [
    ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']),
    ...['--mount', '--propagation', 'private', 'mount', '--bind', '/tmp', '/tmp'],
  ]).status === 0;
