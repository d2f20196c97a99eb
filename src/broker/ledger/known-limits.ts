import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../common/write-atomically.ts';
import { projectDirectory } from '../../options/project-directory.ts';

/** What runs and `poolwright doctor` have learned about a workspace, for later runs, which then need no request. */
export interface KnownLimits {
  /** The plan's browsers at once; null: unknown. */
  concurrentBrowsers: number | null;
  /** Sizes of pools, by the ID or name that the options use. */
  pools: ReadonlyMap<string, number>;
}

const NOTHING: KnownLimits = { concurrentBrowsers: null, pools: new Map() };

/**
 * The file for one workspace of one service, in the directory of the project that `start` lies in. Its name is a hash:
 * the file contains neither key nor address. Null: there is no directory that only this user can write to.
 */
export function limitsFile(start: string, { baseURL, apiKey }: { baseURL: string; apiKey: string }): string | null {
  const { ledgerDirectory } = projectDirectory(start);
  const workspace = createHash('sha256').update(`poolwright limits ${baseURL} ${apiKey}`).digest('hex').slice(0, 16);
  return ledgerDirectory && join(ledgerDirectory, `limits-${workspace}.json`);
}

/** What is known; nothing where the file is missing or damaged. */
export function readLimits(file: string | null): KnownLimits {
  if (file === null) return NOTHING;
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof content !== 'object' || content === null) return NOTHING;
    const { concurrentBrowsers, pools } = content as Record<string, unknown>; // every value is checked below
    return {
      concurrentBrowsers: isCount(concurrentBrowsers) ? concurrentBrowsers : null,
      pools: new Map(Object.entries(pools ?? {}).filter((each): each is [string, number] => isCount(each[1]))),
    };
  } catch {
    return NOTHING;
  }
}

/** Adds to what is known. Never rejects: a run does not fail because its project's directory is read-only. */
export async function rememberLimits(file: string | null, learned: KnownLimits): Promise<void> {
  if (file === null) return;
  const known = readLimits(file);
  const all = {
    concurrentBrowsers: learned.concurrentBrowsers ?? known.concurrentBrowsers,
    pools: new Map([...known.pools, ...learned.pools]),
  };
  const text = textOf(all);
  if (text === textOf(known)) return;
  await writeAtomically(file, text).catch(() => undefined); // the next run asks again
}

function textOf({ concurrentBrowsers, pools }: KnownLimits): string {
  return `${JSON.stringify({ schema: 1, concurrentBrowsers, pools: Object.fromEntries(pools) })}\n`;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}
