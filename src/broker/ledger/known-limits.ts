import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeAtomically } from '../../common/write-atomically.ts';
import { projectDirectory } from '../../options/project-directory.ts';
import type { ServiceChoice } from '../../options/resolve-service.ts';

/**
 * What runs and `poolwright doctor` have learned about a workspace or a provider, for later runs, which then need no
 * request.
 */
export interface KnownLimits {
  /** The browsers at once of the plan or the provider; null: unknown. */
  concurrentBrowsers: number | null;
  /** Sizes of pools, by the ID or name that the options use. */
  pools: ReadonlyMap<string, number>;
}

const NOTHING: KnownLimits = { concurrentBrowsers: null, pools: new Map() };

/**
 * The file for one workspace of one service, or for one provider, in the directory of the project that `start` lies in.
 * Its name is a hash: the file contains neither key nor address. Null: there is no directory that only this user can
 * write to, or nothing to learn.
 */
export function limitsFile(start: string, service: ServiceChoice): string | null {
  const { ledgerDirectory } = projectDirectory(start);
  const whose = ownerOf(service);
  if (ledgerDirectory === null || whose === null) return null;
  const hash = createHash('sha256').update(`poolwright limits ${whose}`).digest('hex').slice(0, 16);
  return join(ledgerDirectory, `limits-${hash}.json`);
}

function ownerOf(service: ServiceChoice): string | null {
  if (service.kind === 'hosted') return `${service.baseURL} ${service.apiKey}`;
  // The option and the variable name its file relative to different directories.
  return service.kind === 'provider' ? `provider ${basename(service.file)}` : null;
}

/** Returns the limits in the file; none if it is missing or damaged. */
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
