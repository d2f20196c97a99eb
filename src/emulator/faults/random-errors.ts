import { faultRule, type ResolvedFaultRule } from '../fault-rule.ts';

/** Occasional errors of a healthy service (section 7 of the service document). All are equally likely. */
const ERRORS = [
  {
    status: 503,
    headers: { 'Retry-After': '2' },
    body: { error: 'No eligible node found', code: 'browser_capacity_unavailable' },
  },
  { status: 500, body: { error: 'Internal error' } },
  { status: 429, body: { error: 'Too many requests' } },
  { status: 502, body: '<html><body><h1>502 Bad Gateway</h1></body></html>' },
];

/** Rules by which this share of all requests, 0 to 1, fails. */
export function randomErrors(rate: number): ResolvedFaultRule[] {
  if (rate === 0) return [];
  const share = rate / ERRORS.length;
  return ERRORS.map((effect, index) => {
    // Of the requests that the rules before it let pass.
    const probability = share / (1 - index * share);
    return faultRule.parse({ id: `error-rate-${effect.status}`, match: { probability }, effect });
  });
}
