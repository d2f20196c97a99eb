import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Consumer } from '../e2e/consumer.ts';
import type { ChaosPlan, FullDisk } from './chaos-plan.ts';

/** What is around a run: its disk and its clock. */

const FOLDERS = { ledger: 'node_modules/.cache/poolwright', output: 'test-results' } as const;
const SKEW = join(import.meta.dirname, 'clock-skew.cjs');

/** Where a consumer's ledgers lie. */
export const LEDGERS = FOLDERS.ledger;

/** Fills a file system. */
const FILLER = 'filler.bin';

let allowed: boolean | null = null;
/** Whether this user may mount and make namespaces. */
function mayMount(): boolean {
  allowed ??= spawnSync('unshare', ['--mount', '--pid', '--fork', '--mount-proc', 'true']).status === 0;
  return allowed && process.getuid?.() === 0;
}

/** The plan without what this machine does not let us do. */
export function feasible(plan: ChaosPlan): ChaosPlan {
  if (mayMount()) return plan;
  const neighbour = plan.neighbour && { ...plan.neighbour, place: 'here' as const };
  return { ...plan, disk: null, neighbour };
}

/** Variables that put the run's processes on the wrong time. */
export function clockEnv({ clock }: ChaosPlan): Record<string, string> {
  if (!clock) return {};
  return {
    NODE_OPTIONS: `--require=${SKEW}`,
    CHAOS_CLOCK_SHIFT: String(clock.shiftMs),
    CHAOS_CLOCK_FROM: String(Date.now() + clock.fromMs),
  };
}

/** Small disks under a consumer's folders. */
export interface SmallDisks {
  /** Nothing can be written there any more. */
  fill(): void;
  unmount(): void;
}

/** Mounts them, full already where they are full from the start. */
export function smallDisks(consumer: Consumer, disk: FullDisk | null): SmallDisks {
  const folders = (disk?.folders ?? []).map((name) => join(consumer.folder, FOLDERS[name]));
  const mounted: string[] = [];
  const fill = () => {
    for (const folder of mounted) fillUp(folder);
  };
  const unmount = () => {
    for (let folder = mounted.pop(); folder; folder = mounted.pop()) execFileSync('umount', ['--lazy', folder]);
  };
  try {
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true });
      // One page: what empties the output folder before a run makes no room worth the name.
      const size = disk?.from === 'start' ? '4k' : '1m';
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
      mounted.push(folder);
    }
    if (disk?.from === 'start') fill();
  } catch (error) {
    unmount();
    throw error;
  }
  return { fill, unmount };
}

function fillUp(folder: string): void {
  if (!existsSync(folder)) return;
  try {
    for (;;) writeFileSync(join(folder, FILLER), Buffer.alloc(4096), { flag: 'a' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
