import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Processes that descend from `root`, by what /proc says, with the title each has. */
export function descendants(root: number): { pid: number; parent: number; command: string }[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        return [{ pid: Number(pid), parent, command }];
      } catch {
        return []; // it has just ended
      }
    });
  const below = new Set([root]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const { pid, parent } of all) {
      if (below.has(parent) && !below.has(pid)) {
        below.add(pid);
        grown = true;
      }
    }
  }
  return all.filter(({ pid }) => below.has(pid) && pid !== root);
}

/** The broker of a run. */
export function brokerOf(runner: number): number {
  const broker = descendants(runner).find(({ command }) => command.startsWith('poolwright broker'));
  if (!broker) throw new Error(`no broker below ${runner}: ${JSON.stringify(descendants(runner))}`);
  return broker.pid;
}

/** Processes that were started in a folder: runners, workers and brokers, also those whose runner is dead. */
export function processesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === folder;
      } catch {
        return false; // it has just ended, or is a zombie
      }
    })
    .map(Number);
}
