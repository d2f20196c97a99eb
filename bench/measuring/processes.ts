import { readdirSync, readFileSync } from 'node:fs';

/** Other processes as Linux's /proc has them; elsewhere nothing is known of them. */

/** Resident memory of a process, in MB; NaN: not known. */
export function residentMegabytes(pid: number): number {
  const status = contentOf(`/proc/${pid}/status`);
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status ?? '')?.[1];
  return kilobytes === undefined ? Number.NaN : Number(kilobytes) / 1024;
}

/** Memory of a process, in MB, with its part of what it shares with others; NaN: not known. */
export function memoryMegabytes(pid: number): number {
  const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(contentOf(`/proc/${pid}/smaps_rollup`) ?? '')?.[1];
  return kilobytes === undefined ? Number.NaN : Number(kilobytes) / 1024;
}

/** Seconds that a process has worked; NaN: not known. */
export function processorSecondsOf(pid: number): number {
  const stat = statOf(pid);
  // In ticks, of which Linux always reports 100 a second.
  return stat === null ? Number.NaN : (Number(stat[11]) + Number(stat[12])) / 100;
}

/** The process below this one whose title begins so; null: there is none, or nothing is known. */
export function descendantTitled(title: string): number | null {
  const found = withDescendants(process.pid).find((pid) => contentOf(`/proc/${pid}/cmdline`)?.startsWith(title));
  return found ?? null;
}

function withDescendants(root: number): number[] {
  const all = pids().map((pid) => ({ pid, parent: parentOf(pid) }));
  const found = [root];
  for (const above of found) found.push(...all.filter(({ parent }) => parent === above).map(({ pid }) => pid));
  return found;
}

function pids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function parentOf(pid: number): number | null {
  const stat = statOf(pid);
  return stat === null ? null : Number(stat[1]);
}

/** The fields of /proc/<pid>/stat after the command's name, which may hold anything. */
function statOf(pid: number): string[] | null {
  const stat = contentOf(`/proc/${pid}/stat`);
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function contentOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null; // it has ended, or this is not Linux
  }
}
