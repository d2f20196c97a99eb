import type { FaultRule } from 'poolwright/emulator';
import type { Choices } from '../../support/random-choices.ts';

/**
 * Where a run's browsers come from; `embedded`: the run's own emulator, without a service outside the run; `provider`:
 * a user's provider, which gets them from that service; `addresses`: browsers of that service that run already.
 */
export type Source = 'session' | 'pool' | 'pool-only' | 'run-pool' | 'embedded' | 'provider' | 'addresses';

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

/** Faults of a connection to a browser that runs on. */
const LINK_FAULTS: FaultRule['effect'][] = [
  { status: 503 },
  { reset: true },
  { delayMs: 700 },
  { cutLink: true, afterMs: 0 },
  { cutLink: true, afterMs: 1_500 },
];

/** Returns up to four faulty calls, and sometimes a fault that ends a browser. */
export function drawFaults({ whole, pick, chance }: Choices, source: Source): FaultRule[] {
  const faults: FaultRule[] = [];
  if (source === 'addresses') {
    const link = { method: 'GET', path: '/cdp/*' } as const;
    for (let n = whole(0, 3); n > 0; n -= 1)
      faults.push({ match: { ...link, nth: whole(1, 4) }, effect: pick(LINK_FAULTS), count: 1 });
    return faults;
  }
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
