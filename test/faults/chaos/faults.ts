import type { FaultRule } from 'poolwright/emulator';
import type { Choices } from '../../support/random-choices.ts';

/**
 * Where a run's browsers come from; `embedded`: the run's own emulator, without a service outside the run; `provider`:
 * a user's provider, which gets them from that service.
 */
export type Source = 'session' | 'pool' | 'pool-only' | 'run-pool' | 'embedded' | 'provider';

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

const ENDS = [
  'crashBrowser',
  'cutLink',
  'endSession',
  'crashBrowser',
  'cutLink',
  'endSession',
  'stallBrowser',
] as const;

/** Returns up to four faulty calls, and sometimes a fault that ends a browser. */
export function drawFaults({ whole, pick, chance }: Choices, source: Source): FaultRule[] {
  const faults: FaultRule[] = [];
  for (let n = whole(0, 4); n > 0; n -= 1) {
    const call = pick(Object.keys(CALLS) as (keyof typeof CALLS)[]);
    let effect = pick(SPOILT);
    // No one can tell who holds such a lease: on a user's pool it ends only with its lease time.
    if (call === 'acquire' && effect.loseAnswer && source !== 'run-pool') effect = { reset: true };
    faults.push({ match: { ...CALLS[call], nth: whole(1, 3) }, effect, count: whole(1, 3) });
  }
  if (chance(0.35)) {
    const call = source === 'session' || source === 'provider' ? CALLS.create : CALLS.acquire;
    faults.push({ match: { ...call, nth: whole(1, 2) }, effect: { [pick(ENDS)]: true, afterMs: whole(0, 2_500) } });
  }
  return faults;
}
