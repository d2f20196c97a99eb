import { wildcardTest } from '../../common/text/wildcard.ts';
import { type FaultEffect, type FaultMatch, faultRule, type ResolvedFaultRule } from '../fault-rule.ts';

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

/** A rule in the list, with what has come of it. */
export interface FaultState {
  id: string;
  match: FaultMatch;
  effect: FaultEffect;
  count: number | null;
  /** How many requests fitted it. */
  matched: number;
  /** How many of those it fired on. */
  fired: number;
}

/** A rule that fires on a request. */
export interface Firing {
  readonly id: string;
  readonly effect: FaultEffect;
  /** It could do nothing after all (there was no browser to crash): it does not count as fired. */
  takeBack(): void;
}

interface Entry {
  state: FaultState;
  fits: (path: string) => boolean;
  random: () => number;
}

const API = '/v1/*';

/**
 * The list of faults. Every rule counts the requests that fit it; of those that want to fire, the first in the list
 * does, so that a request has one fault at most.
 */
export class FaultList {
  readonly #seed: number;
  readonly #entries: Entry[] = [];
  #named = 0;

  constructor(rules: readonly ResolvedFaultRule[], seed: number) {
    this.#seed = seed;
    this.add(rules);
  }

  /** Appends rules. One whose `id` is in the list replaces that rule, with new counts. */
  add(rules: readonly ResolvedFaultRule[]): void {
    for (const rule of rules) {
      const entry = this.#entry(rule);
      const index = this.#entries.findIndex(({ state }) => state.id === entry.state.id);
      if (index === -1) this.#entries.push(entry);
      else this.#entries[index] = entry;
    }
  }

  clear(): void {
    this.#entries.length = 0;
  }

  list(): FaultState[] {
    return this.#entries.map(({ state }) => ({ ...state }));
  }

  /** The rule that fires on this request, if any. */
  take(method: string, path: string): Firing | undefined {
    const fitting = this.#entries.filter(({ state, fits }) => (state.match.method ?? method) === method && fits(path));
    // Each draws on each request that fits it, so that what another rule does never changes its numbers.
    const willing = fitting.filter(wantsToFire);
    const chosen = willing[0]?.state;
    if (!chosen) return undefined;
    chosen.fired++;
    return { id: chosen.id, effect: chosen.effect, takeBack: () => void chosen.fired-- };
  }

  #entry({ id, match, effect, count }: ResolvedFaultRule): Entry {
    const name = id ?? this.#nextName();
    const limit = count ?? (match.nth === undefined ? null : 1);
    return {
      state: { id: name, match, effect, count: limit, matched: 0, fired: 0 },
      fits: wildcardTest(match.path ?? API),
      random: seededRandom(this.#seed, name),
    };
  }

  #nextName(): string {
    let name: string;
    do name = `fault-${++this.#named}`;
    while (this.#entries.some(({ state }) => state.id === name));
    return name;
  }
}

function wantsToFire({ state, random }: Entry): boolean {
  const { nth = 1, probability = 1 } = state.match;
  const isDrawn = random() < probability;
  return ++state.matched >= nth && isDrawn && state.fired < (state.count ?? Number.POSITIVE_INFINITY);
}

/** Rules by which this share of all requests, 0 to 1, fails. */
export function randomErrors(rate: number): ResolvedFaultRule[] {
  if (rate === 0) return [];
  const share = rate / ERRORS.length;
  return ERRORS.map((effect, index) => {
    // Among the requests that the earlier rules let pass.
    const probability = share / (1 - index * share);
    return faultRule.parse({ id: `error-rate-${effect.status}`, match: { probability }, effect });
  });
}

/** Numbers in [0, 1), the same ones for the same seed and purpose (mulberry32 on a hash of both). */
export function seededRandom(seed: number, purpose: string): () => number {
  let state = seed >>> 0;
  for (const char of purpose) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
