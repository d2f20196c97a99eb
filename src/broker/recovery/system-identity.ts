import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, statSync } from 'node:fs';

/** Timeout for asking the system for its boot ID, in ms. */
const ASK_MS = 2_000;

let place: string | null | undefined;

/**
 * Returns where this process runs: one boot of one kernel with one view of processes and files. Two processes in the
 * same place see the same sockets, so a missing socket means that its broker is gone. A host and its containers are
 * different places, whatever their names; so is a machine before and after a restart. Null if the system does not
 * report it.
 */
export function systemIdentity(): string | null {
  if (place === undefined) place = findPlace();
  return place;
}

function findPlace(): string | null {
  try {
    const { dev, ino } = statSync('/'); // also that of a `chroot`
    if (process.platform === 'darwin') {
      // macOS has no containers: those of its users run in a Linux VM.
      const boot = execFileSync('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'], { timeout: ASK_MS, stdio: 'pipe' });
      return `${boot.toString().trim()} ${dev}:${ino}`;
    }
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return [boot, readlinkSync('/proc/self/ns/pid'), readlinkSync('/proc/self/ns/mnt'), `${dev}:${ino}`].join(' ');
  } catch {
    return null;
  }
}
