import type { EmulatorOptions, FaultRule } from 'poolwright/emulator';

/** One random run, drawn from a seed: the same seed draws the same run. */
export interface ChaosPlan {
  playwright: 'oldest' | 'latest';
  workers: number;
  /** Per file, whether each of its tests passes. */
  files: boolean[][];
  /** Second argument of the wrapper, as source text. */
  options: string;
  emulator: Pick<EmulatorOptions, 'concurrentBrowsers' | 'faults' | 'seed'>;
  /** Who is killed when so many tests have begun; null: nobody. */
  kill: { whom: 'worker' | 'runner' | 'broker' | 'machine' | 'ctrl-c'; afterTests: number } | null;
}

const CALLS = {
  create: { method: 'POST', path: '/v1/browser/session' },
  stop: { method: 'DELETE', path: '/v1/browser/session' },
  get: { method: 'GET', path: '/v1/browser/session' },
  note: { method: 'PATCH', path: '/v1/browser/session' },
  list: { method: 'GET', path: '/v1/browser/sessions' },
  acquire: { method: 'POST', path: '/v1/browser/pools/*/acquire' },
  release: { method: 'POST', path: '/v1/browser/pools/*/release' },
} as const;

const SPOILT: FaultRule['effect'][] = [
  { status: 500 },
  { status: 502, body: '<html>Bad gateway</html>' },
  {
    status: 503,
    headers: { 'Retry-After': '1' },
    body: { error: 'No eligible node found', code: 'browser_capacity_unavailable' },
  },
  { status: 429, body: 'Too many' },
  { status: 504, body: { error: 'not ready' } },
  { reset: true },
  { loseAnswer: true },
  { delayMs: 700 },
];

/** Draws the run of this seed. */
export function chaosPlan(seed: number): ChaosPlan {
  const random = mulberry32(seed);
  const whole = (min: number, max: number) => min + Math.floor(random() * (max - min + 1));
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const chance = (probability: number) => random() < probability;

  const source = pick(['session', 'session', 'pool', 'pool-only', 'run-pool'] as const);
  const workers = whole(1, 3);
  const reuse = pick(['run', 'run', 'worker', 'test'] as const);
  const pool = {
    session: '',
    pool: `pool: 'chaos', fallback: 'session',`,
    'pool-only': `pool: 'chaos', fallback: 'fail',`,
    'run-pool': 'pool: { create: {} },',
  }[source];

  const faults: FaultRule[] = [];
  for (let n = whole(0, 4); n > 0; n -= 1) {
    const call = pick(Object.keys(CALLS) as (keyof typeof CALLS)[]);
    let effect = pick(SPOILT);
    // Who has it, nobody can tell: on a pool of the user's it ends by its lease time only.
    if (call === 'acquire' && effect.loseAnswer && source !== 'run-pool') effect = { reset: true };
    faults.push({ match: { ...CALLS[call], nth: whole(1, 3) }, effect, count: whole(1, 3) });
  }
  if (chance(0.35)) {
    const befalls = pick([
      'crashBrowser',
      'crashBrowser',
      'cutLink',
      'cutLink',
      'endSession',
      'endSession',
      'stallBrowser',
    ] as const);
    const call = source === 'session' ? CALLS.create : CALLS.acquire;
    faults.push({ match: { ...call, nth: whole(1, 2) }, effect: { [befalls]: true, afterMs: whole(0, 2_500) } });
  }
  const files = Array.from({ length: whole(1, 3) }, () => Array.from({ length: whole(1, 3) }, () => chance(0.8)));
  const tests = files.flat().length;
  const whom = pick(['worker', 'runner', 'broker', 'machine', 'ctrl-c'] as const);
  return {
    playwright: chance(0.15) ? 'oldest' : 'latest',
    workers,
    files,
    options: `{ ${pool} reuse: '${reuse}', acquireTimeout: 30_000 }`,
    emulator: { concurrentBrowsers: whole(2, 8), faults, seed },
    kill: chance(0.6) ? { whom, afterTests: whole(1, Math.min(tests, 4)) } : null,
  };
}

/** Numbers in [0, 1), the same for the same seed. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
