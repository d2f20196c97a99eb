import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Consumer } from '../../support/e2e/consumer.ts';
import { requires } from '../../support/requires.ts';
import type { ChaosPlan, FullDisk } from './plan.ts';

/** The surroundings of a run: its disk and its clock. */

const DIRECTORIES = { ledger: 'node_modules/.cache/poolwright', output: 'test-results' } as const;
const SKEW = join(import.meta.dirname, 'clock-skew.cjs');

/** Where a consumer's ledgers are. */
export const LEDGERS = DIRECTORIES.ledger;

/** A file that fills a file system. */
const FILLER = 'filler.bin';

/** Skips the test where this machine does not allow a part of its plan. */
export function requiresFor({ disk, neighbour }: ChaosPlan): void {
  if (disk) requires('root');
  if (disk || (neighbour && neighbour.place !== 'here')) requires('unshare');
}

/** Returns variables that set the clock of the run's processes wrong. */
export function clockEnv({ clock }: ChaosPlan): Record<string, string> {
  if (!clock) return {};
  return {
    NODE_OPTIONS: `--require=${JSON.stringify(SKEW)}`,
    CHAOS_CLOCK_SHIFT: String(clock.shiftMs),
    CHAOS_CLOCK_FROM: String(Date.now() + clock.fromMs),
  };
}

/** Small disks below a consumer's directory. */
export interface SmallDisks {
  /** Fills them, so that nothing more can be written. */
  fill(): void;
  unmount(): void;
}

/** Mounts the disks; those that are full from the start are filled. */
export function smallDisks(consumer: Consumer, disk: FullDisk | null): SmallDisks {
  const directories = (disk?.directories ?? []).map((name) => join(consumer.directory, DIRECTORIES[name]));
  const mounted: string[] = [];
  const fill = () => {
    for (const directory of mounted) fillUp(directory);
  };
  const unmount = () => {
    for (let directory = mounted.pop(); directory; directory = mounted.pop())
      execFileSync('umount', ['--lazy', directory]);
  };
  try {
    for (const directory of directories) {
      mkdirSync(directory, { recursive: true });
      // One page: clearing the output directory before a run frees almost no space.
      const size = disk?.from === 'start' ? '4k' : '1m';
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory]);
      mounted.push(directory);
    }
    if (disk?.from === 'start') fill();
  } catch (error) {
    unmount();
    throw error;
  }
  return { fill, unmount };
}

function fillUp(directory: string): void {
  if (!existsSync(directory)) return;
  try {
    for (;;) writeFileSync(join(directory, FILLER), Buffer.alloc(4096), { flag: 'a' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
