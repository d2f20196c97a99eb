import type { EmulatorOptions, FaultRule } from 'poolwright/emulator';
import { type Choices, choicesOf } from '../../support/random-choices.ts';
import { drawFaults, type Source } from './faults.ts';

/**
 * What happens to a process. `pause`: it freezes for a while; `pause-kill`: it freezes and is then killed; `hang`: it
 * freezes forever.
 */
export type Blow = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL' | 'pause' | 'pause-kill' | 'hang';

/**
 * The affected processes. `terminal`: runner and workers, as with Ctrl-C; `machine`: runner, workers and broker at
 * once; `module`: that of a user's provider.
 */
export type Victim = 'worker' | 'runner' | 'broker' | 'service' | 'machine' | 'terminal' | 'module';

export interface Death {
  whom: Victim;
  blow: Blow;
  /** Length of a pause, in ms. */
  pauseMs: number;
  /** Number of started tests before the signal. */
  afterTests: number;
}

/**
 * A second run in the same directory. `here`: in a second terminal; `pids`: in a separate PID namespace; `tmp`: also
 * with a separate temporary directory, like a container that shares the checkout; `host`: also with a different host
 * name.
 */
export interface Neighbour {
  place: 'here' | 'pids' | 'tmp' | 'host';
  begins: 'before' | 'after';
}

export interface FullDisk {
  directories: ('ledger' | 'output')[];
  from: 'start' | 'midway';
}

/**
 * The sets of random runs: on stub browsers, on real ones, on stub browsers of a user's provider, and on real ones that
 * run already.
 */
export type ChaosKind = 'stub' | 'chromium' | 'provider' | 'addresses';

/** One random run. The same seed gives the same run. */
export interface ChaosPlan {
  seed: number;
  browser: 'stub' | 'chromium';
  playwright: 'oldest' | 'latest';
  workers: number;
  /** For each file, whether each of its tests passes. */
  files: boolean[][];
  source: Source;
  /** Whether a user's provider has the function `list`. */
  lists: boolean;
  /** Second argument of the wrapper, as source text. */
  options: string;
  emulator: Pick<EmulatorOptions, 'concurrentBrowsers' | 'rtt' | 'seed'> & { faults: FaultRule[] };
  death: Death | null;
  neighbour: Neighbour | null;
  disk: FullDisk | null;
  /** Bandwidth to the service, in Mbit/s; null: unlimited. */
  megabits: 1 | 10 | null;
  /** Error of the clock of the run's processes, in ms, and when it begins, in ms after the start. */
  clock: { shiftMs: number; fromMs: number } | null;
}

const BROWSERS = { stub: 'stub', chromium: 'chromium', provider: 'stub', addresses: 'chromium' } as const;
const SOURCES = {
  stub: ['session', 'session', 'pool', 'pool-only', 'run-pool'],
  chromium: ['session', 'session', 'embedded', 'pool', 'pool-only', 'run-pool'],
  provider: ['provider'],
  addresses: ['addresses'],
} as const;
const POOLS: Record<Source, string> = {
  session: '',
  pool: `pool: 'chaos', fallback: 'session',`,
  'pool-only': `pool: 'chaos', fallback: 'fail',`,
  'run-pool': 'pool: { create: {} },',
  embedded: `service: 'emulator',`,
  provider: `provider: './browsers.ts',`,
  // In the environment: they are not known before the service runs.
  addresses: '',
};

const VICTIMS = ['worker', 'runner', 'broker', 'service', 'machine', 'terminal'] as const;
const EVERY_BLOW = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL', 'SIGKILL', 'pause', 'pause-kill'] as const;
const BLOWS: Record<Victim, readonly Blow[]> = {
  worker: [...EVERY_BLOW, 'hang'],
  runner: EVERY_BLOW,
  broker: [...EVERY_BLOW, 'hang'],
  service: [...EVERY_BLOW, 'hang'],
  machine: ['SIGKILL'],
  terminal: ['SIGINT', 'SIGINT', 'SIGHUP', 'SIGTERM'],
  module: ['SIGKILL', 'SIGKILL', 'SIGTERM', 'pause', 'pause-kill'],
};

const MINUTE = 60_000;
const SHIFTS = [-180 * MINUTE, -25 * MINUTE, -3 * MINUTE, 3 * MINUTE, 25 * MINUTE, 300 * MINUTE] as const;

/** Number of foreign and neighbour browsers that need room beside the run's own. */
const OTHERS = 4;

/** Returns the run of this seed. */
export function chaosPlan(seed: number, kind: ChaosKind): ChaosPlan {
  const choices = choicesOf(seed);
  const { whole, pick, chance } = choices;
  const real = BROWSERS[kind] === 'chromium';
  const source: Source = pick(SOURCES[kind]);
  const workers = whole(1, real ? 2 : 3);
  const reuse = pick(['run', 'run', 'worker', 'test'] as const);
  const files = Array.from({ length: whole(1, real ? 2 : 3) }, () =>
    Array.from({ length: whole(1, real ? 2 : 3) }, () => chance(0.8)),
  );
  const faults = source === 'embedded' ? [] : drawFaults(choices, source);
  const concurrentBrowsers = OTHERS + whole(2, real ? 4 : 8);
  const drawn = drawDeath(choices, files.flat().length);
  // From other numbers, so that the runs of the other kinds stay the same.
  const more = choicesOf(seed + 1_000_000);
  const lists = kind !== 'provider' || more.chance(0.6);
  // Nobody can know a browser whose `acquire` was killed, unless the provider lists it.
  const death =
    drawn ?? (kind === 'provider' && lists && more.chance(0.6) ? blowTo(more, 'module', files.flat().length) : null);
  // A neighbour's tests must pass: no fault may hit the service that both share.
  const beside = source !== 'embedded' && death?.whom !== 'service' && chance(0.3);
  const remote = source !== 'embedded' && chance(0.25);
  return {
    seed,
    browser: BROWSERS[kind],
    playwright: chance(0.15) ? 'oldest' : 'latest',
    workers,
    files,
    source,
    lists,
    // Without its service, a run waits for each test's browser until the timeout.
    options: `{ ${POOLS[source]} reuse: '${reuse}', acquireTimeout: ${death?.whom === 'service' ? 8_000 : 30_000} }`,
    emulator: {
      concurrentBrowsers: concurrentBrowsers + (beside ? workers : 0),
      faults: beside ? [] : faults,
      rtt: remote ? 200 : 0,
      seed: seed % 2 ** 32,
    },
    death,
    neighbour: beside
      ? { place: pick(['here', 'pids', 'tmp', 'host'] as const), begins: pick(['before', 'after'] as const) }
      : null,
    disk: chance(0.2) ? drawDisk(choices) : null,
    megabits: remote ? pick([1, 10, 10] as const) : null,
    clock: chance(0.25) ? { shiftMs: pick(SHIFTS), fromMs: pick([0, 0, whole(1_000, 4_000)]) } : null,
  };
}

function drawDeath(choices: Choices, tests: number): Death | null {
  if (!choices.chance(0.65)) return null;
  return blowTo(choices, choices.pick(VICTIMS), tests);
}

function blowTo({ whole, pick }: Choices, whom: Victim, tests: number): Death {
  return { whom, blow: pick(BLOWS[whom]), pauseMs: whole(200, 5_000), afterTests: whole(1, Math.min(tests, 4)) };
}

function drawDisk({ pick }: Choices): FullDisk {
  const directories = pick([['ledger'], ['output'], ['ledger', 'output']] as const);
  return { directories: [...directories], from: pick(['start', 'midway'] as const) };
}

/** Returns what happens to a run, for the tables. */
export function blowOf({ death }: ChaosPlan): string | null {
  return death && `signal: ${death.blow} to the ${death.whom}`;
}

/** Returns the other properties of a run. */
export function traitsOf({ source, lists, neighbour, disk, megabits, clock, emulator }: ChaosPlan): string[] {
  const traits = [`browsers from: ${source}${lists ? '' : ' without `list`'}`];
  if (emulator.faults.length > 0) traits.push('faults of the service');
  if (disk) traits.push(...disk.directories.map((directory) => `full disk: ${directory}`));
  if (megabits) traits.push(`link: ${megabits} Mbit/s, 200 ms`);
  if (clock) traits.push(`clock off by ${clock.shiftMs > 0 ? '+' : '−'}${Math.abs(clock.shiftMs) / MINUTE} min`);
  if (neighbour) traits.push(neighbour.place === 'here' ? 'two runs' : `two runs, two namespaces (${neighbour.place})`);
  return traits;
}
