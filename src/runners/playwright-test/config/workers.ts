import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';
import { basename } from 'node:path';
import { type KnownLimits, limitsFile, readLimits } from '../../../broker/ledger/known-limits.ts';
import { PoolwrightError } from '../../../errors.ts';
import { workersVariable } from '../../../options/environment.ts';
import { type MergedOptions, poolOf } from '../../../options/lease-plan.ts';
import { resolveService, type ServiceChoice } from '../../../options/resolve-service.ts';
import type { HostedOptions } from '../../../options/schema/schema.ts';

/** The capacity of a machine: a worker that mostly waits for its browser needs little of a core, but memory. */
const MOST_PER_CORE = 8;
const WORKER_BYTES = 200e6;
/** For the system, the runner and the broker. */
const RESERVED_BYTES = 1e9;

/** How many workers a run has, if poolwright decides. */
export interface WorkerChoice {
  /** Null: Playwright's own number. */
  workers: number | null;
  /** Why, for the terminal; null: the user said so. */
  why: string | null;
}

/** Where a project's browsers come from, and how many there are. */
export interface BrowserSource {
  /** Null: unknown. */
  browsers: number | null;
  /** For the user, with the number: "the plan allows 10 browsers at once". */
  what: string;
  /** The pool that has them, if its size is unknown. */
  pool?: string;
}

export interface Machine {
  cores: number;
  /** Bytes. */
  memory: number;
}

/** The facts that the choice depends on. */
export interface WorkersQuestion {
  /** `workers` of the user's config. */
  configured: unknown;
  options: HostedOptions;
  /** The projects that this run may run. */
  hosted: readonly { options: MergedOptions }[];
  /** Whether it may also run projects on local browsers. */
  hasLocal: boolean;
  /** `shard` of the user's config. */
  shard: { total: number } | null | undefined;
  /** Of this process. */
  args: readonly string[];
}

/**
 * Chooses `workers` before Playwright reads the config, without a request; null: the user has chosen them, in the
 * config or on the command line.
 * @throws OptionsError for an invalid variable
 */
export function chooseWorkers(question: WorkersQuestion): WorkerChoice | null {
  const { configured, options, hosted, hasLocal, shard, args } = question;
  const wanted = options.workers ?? workersVariable(process.env);
  if (hosted.length === 0 || args.some((arg) => /^(--workers(=|$)|-x?j)/.test(arg))) return null;
  if (wanted === undefined && configured !== undefined) return null;
  // Before 1.52, all projects share one number, and local ones need Playwright's.
  if (hasLocal && !hasProjectWorkers()) return null;
  if (typeof wanted === 'number') return { workers: wanted, why: null };
  const machine = { cores: cpus().length, memory: usableMemory() };
  const usual = Math.max(1, Math.floor(machine.cores / 2));
  const service = serviceOf(options);
  // The emulator's browsers run on this machine: more workers than Playwright's own number do not help.
  if (service === null || service.kind === 'emulator') return null;
  const known = readLimits(limitsFile(process.cwd(), service));
  // A provider's is known only if it has `limit`.
  if (service.kind === 'provider' && known.concurrentBrowsers === null) return null;
  const sources = service.kind === 'hosted' ? sourcesOf(hosted, known) : [ownSource(service, known)];
  return suitableWorkers({ sources, shards: shard?.total ?? shardsIn(args), usual, machine });
}

/** The largest number of workers for which every source has a browser, and this machine the means. */
export function suitableWorkers({
  sources,
  shards,
  usual,
  machine: { cores, memory },
}: {
  sources: readonly BrowserSource[];
  shards: number;
  /** Playwright's own number. */
  usual: number;
  machine: Machine;
}): WorkerChoice {
  const unknown = sources.find(({ browsers }) => browsers === null);
  if (unknown) {
    const many = usual === 1 ? '1 worker' : `${usual} workers`;
    const named = unknown.pool === undefined ? '' : `POOLWRIGHT_POOL=${unknown.pool} `;
    const how = `\`${named}npx poolwright doctor\` remembers it, or set \`workers\``;
    return { workers: null, why: `${many}, Playwright's own number: ${unknown.what} is not known here yet. ${how}` };
  }
  const [fewest] = [...sources].sort((a, b) => (a.browsers ?? 0) - (b.browsers ?? 0));
  const share = Math.max(1, Math.floor((fewest?.browsers ?? 1) / Math.max(1, shards)));
  const bearable = Math.min(cores * MOST_PER_CORE, Math.floor((memory - RESERVED_BYTES) / WORKER_BYTES));
  const most = Math.max(usual, bearable);
  const workers = Math.min(share, most);
  const many = workers === 1 ? '1 worker' : `${workers} workers`;
  const what = `${fewest?.what}${shards > 1 ? `, for ${shards} shards` : ''}`;
  if (share <= most) return { workers, why: `${many}: ${what}` };
  const size = `${cores} cores, ${Math.round(memory / 1e9)} GB`;
  return { workers, why: `${many}, the most for this machine (${size}): ${what}` };
}

/** The sources of the projects' browsers: the plan, which also bounds pools, and each pool. */
function sourcesOf(hosted: readonly { options: MergedOptions }[], known: KnownLimits): BrowserSource[] {
  const pools = hosted.map(({ options }) => poolOf(options, process.env));
  const sources = pools.flatMap((pool): BrowserSource[] => {
    if (typeof pool !== 'string') {
      const size = pool?.create.size;
      return size === undefined ? [] : [{ browsers: size, what: `the run's pool has ${count(size)}` }];
    }
    const size = known.pools.get(pool);
    if (size === undefined) return [{ browsers: null, what: `the size of pool ${pool}`, pool }];
    return [{ browsers: size, what: `pool ${pool} has ${count(size)}` }];
  });
  const limit = known.concurrentBrowsers;
  if (limit !== null) sources.unshift({ browsers: limit, what: `the plan allows ${count(limit)} at once` });
  else if (pools.length > sources.length) sources.push({ browsers: null, what: "the plan's limit" });
  return sources;
}

/** The user's own browsers. */
function ownSource(
  service: Extract<ServiceChoice, { kind: 'browsers' | 'provider' }>,
  { concurrentBrowsers }: KnownLimits,
): BrowserSource {
  if (service.kind === 'provider') {
    const browsers = concurrentBrowsers ?? 1;
    return { browsers, what: `${basename(service.file)} allows ${count(browsers)} at once` };
  }
  const browsers = service.browsers.reduce((sum, { max }) => sum + max, 0);
  return { browsers, what: `${count(browsers)} of \`browsers\` can be used at once` };
}

function count(browsers: number): string {
  return browsers === 1 ? '1 browser' : `${browsers} browsers`;
}

/** Null: the run will not start, and its global setup says why. */
function serviceOf(options: HostedOptions): ReturnType<typeof resolveService> | null {
  try {
    return resolveService(options, process.env);
  } catch (error) {
    if (error instanceof PoolwrightError) return null;
    throw error;
  }
}

/** Playwright passes the flag to the config only after it has read it. */
function shardsIn(args: readonly string[]): number {
  const at = args.findIndex((arg) => /^--shard(=|$)/.test(arg));
  const text = at < 0 ? '' : args[at] === '--shard' ? args[at + 1] : args[at];
  return Number(/\d+\/(\d+)$/.exec(text ?? '')?.[1] ?? 1);
}

function usableMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/**
 * Whether projects can have their own number (since 1.52). There is no feature to detect: Playwright exports nothing
 * more than before, and an older one ignores the key in a config without an error.
 */
function hasProjectWorkers(): boolean {
  const { version }: { version: string } = createRequire(import.meta.url)('@playwright/test/package.json');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 1 || minor >= 52;
}
