import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, statSync } from 'node:fs';

/** Bound on asking the system for its boot, in ms. */
const ASK_MS = 2_000;

let place: string | null | undefined;

/**
 * Where this process runs: one boot of one kernel, and there one view of its processes and files. Two processes in the
 * same place see the same sockets, so that one that is not there has nobody behind it. A host and its containers are
 * different places, whatever their names; so is a machine before and after it was started again. Null where the system
 * does not tell.
 */
export function systemIdentity(): string | null {
  if (place === undefined) place = findPlace();
  return place;
}

function findPlace(): string | null {
  try {
    const { dev, ino } = statSync('/'); // of a `chroot`, too
    if (process.platform === 'darwin') {
      // No containers there: those of its users run in a Linux of their own.
      const boot = execFileSync('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'], { timeout: ASK_MS, stdio: 'pipe' });
      return `${boot.toString().trim()} ${dev}:${ino}`;
    }
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return [boot, readlinkSync('/proc/self/ns/pid'), readlinkSync('/proc/self/ns/mnt'), `${dev}:${ino}`].join(' ');
  } catch {
    return null;
  }
}
