import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Returns the descendants of process `root` from /proc, with their titles. */
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

/** Returns the broker of a run. */
export function brokerOf(runner: number): number {
  const broker = descendants(runner).find(({ command }) => command.startsWith('poolwright broker'));
  if (!broker) throw new Error(`no broker below ${runner}: ${JSON.stringify(descendants(runner))}`);
  return broker.pid;
}

/** Returns processes that were started in a directory: runners, workers and brokers, even if their runner is dead. */
export function processesIn(directory: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === directory;
      } catch {
        return false; // it has just ended, or is a zombie
      }
    })
    .map(Number);
}

/** Returns the same processes with their commands: a test that expects none says which one is left. */
export function leftProcesses(directory: string): string[] {
  return processesIn(directory).map((pid) => `process ${pid} ${commandOf(pid)}`);
}

/** Returns a process's command line; an empty text if it has ended. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}
