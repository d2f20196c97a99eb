import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Goal } from '../suite.ts';
import type { Machine } from './machine.ts';
import type { Table } from './table.ts';

/** One suite's result, as it is kept. */
export interface Entry {
  suite: string;
  /** ISO 8601. */
  at: string;
  commit: string;
  machine: Machine;
  rounds: number;
  seed: number;
  tables: Table[];
  goals: Goal[];
  /** By side and figure, one value a round. */
  samples: Record<string, Record<string, (number | null)[]>>;
}

/** One line of JSON an entry, of this machine only: not committed. */
const FILE = 'bench/history/results.jsonl';

/** Keeps what was measured; one round measures nothing. */
export function keep(entries: readonly Entry[]): void {
  const lines = entries.filter(({ rounds }) => rounds > 1).map((entry) => `${JSON.stringify(entry)}\n`);
  if (lines.length === 0) return;
  mkdirSync(dirname(FILE), { recursive: true });
  appendFileSync(FILE, lines.join(''));
}

/** The newest entry of each suite that was measured on the same machine, by the suite's name. */
export function newestEntries(machine: Machine): Map<string, Entry> {
  const lines = existsSync(FILE) ? readFileSync(FILE, 'utf8').split('\n').filter(Boolean) : [];
  const entries = lines.map((line): Entry => JSON.parse(line));
  return new Map(entries.filter((entry) => isSame(entry.machine, machine)).map((entry) => [entry.suite, entry]));
}

function isSame(one: Machine, other: Machine): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
