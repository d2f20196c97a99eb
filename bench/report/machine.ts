import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

/** What the figures were got on. */
export interface Machine {
  cores: number;
  processor: string;
  memoryGigabytes: number;
  system: string;
  node: string;
  playwright: string;
  chromium: string;
}

export function machineOf(chromium: string): Machine {
  const manifest = JSON.parse(readFileSync('node_modules/@playwright/test/package.json', 'utf8'));
  const all = cpus();
  return {
    cores: all.length,
    processor: all[0]?.model.trim() ?? 'unknown',
    memoryGigabytes: Math.round(totalmem() / 1024 ** 3),
    system: `${process.platform} ${process.arch}`,
    node: process.version,
    playwright: manifest.version,
    chromium: said(chromium, ['--version']) ?? 'unknown',
  };
}

/** The commit that is measured; with `+` where files differ from it. */
export function commitOf(): string {
  const commit = said('git', ['rev-parse', '--short', 'HEAD']);
  if (commit === null) return 'unknown';
  return said('git', ['status', '--porcelain', '--untracked-files=no']) ? `${commit}+` : commit;
}

function said(command: string, args: string[]): string | null {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}
