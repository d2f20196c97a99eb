import { stripVTControlCharacters } from 'node:util';
import { errorMessage } from '../../src/common/error-message.ts';
import type { Consumer } from '../support/e2e/consumer.ts';
import { test as base } from '../support/e2e/fixtures.ts';
import { blowOf, type ChaosKind, type ChaosPlan, chaosPlan, traitsOf } from './chaos/plan.ts';
import { CHAOS_MS, runChaos } from './chaos/run.ts';
import { requiresFor } from './chaos/surroundings.ts';
import { type ChaosResult, tally } from './chaos/tally.ts';

/**
 * Short suites with random faults, random surroundings and random deaths. However a run ends, no browser is left
 * running, no end is left unconfirmed, and nothing foreign is touched. `CHAOS_RUNS` sets the number of runs on stub
 * browsers, `CHAOS_REAL` on real ones, `CHAOS_PROVIDER` on a user's provider, `CHAOS_ADDRESSES` on browsers that run
 * already. Run n of `CHAOS_SEED` is the same every time.
 */

const SEED = Number(process.env.CHAOS_SEED ?? 1);
const { CHAOS_RUNS, CHAOS_REAL, CHAOS_PROVIDER, CHAOS_ADDRESSES } = process.env;
/**
 * Runs for `npm test`: short ones that together cover every kind of fault, and of death. On Chromium and on addresses,
 * runs are killed in e2e/recovery/nothing-left.spec.ts and e2e/runs/own-browsers.spec.ts.
 */
const BRIEF = { stub: [7, 11, 13, 21, 29], chromium: [], provider: [12], addresses: [] };
const RUNS =
  CHAOS_RUNS === undefined
    ? BRIEF
    : {
        stub: upTo(Number(CHAOS_RUNS)),
        chromium: upTo(Number(CHAOS_REAL ?? 0)),
        provider: upTo(Number(CHAOS_PROVIDER ?? 0)),
        addresses: upTo(Number(CHAOS_ADDRESSES ?? 0)),
      };
/** Runs to skip, because an earlier execution of this set has done them. */
const DONE = new Set((process.env.CHAOS_DONE ?? '').split(','));
/** Makes the runs of a seed differ by kind. */
const OFFSET = { stub: 0, chromium: 5_000, provider: 8_000, addresses: 9_000 };
const NAMES = { stub: '', chromium: ' on Chromium', provider: ' on a provider', addresses: ' on addresses' };
/** The options of `scripts/faults.mjs` for one run. */
const ALONE: Record<ChaosKind, (n: number) => string> = {
  stub: (n) => `${n} --real 0 --provider 0 --addresses 0`,
  chromium: (n) => `0 --real ${n} --provider 0 --addresses 0`,
  provider: (n) => `0 --real 0 --provider ${n} --addresses 0`,
  addresses: (n) => `0 --real 0 --provider 0 --addresses ${n}`,
};

/** Undoes a random run's changes even if the run is interrupted. */
const test = base.extend<{ later: (undo: () => unknown) => void }>({
  later: async ({ newConsumer: _removedAfterwards }, use) => {
    const undoes: (() => unknown)[] = [];
    await use((undo) => undoes.push(undo));
    for (const undo of undoes.reverse()) await undo();
  },
});

for (const kind of ['stub', 'chromium', 'provider', 'addresses'] as const) {
  for (const n of RUNS[kind]) {
    if (DONE.has(`${kind}-${n}`)) continue;
    test(`chaos run ${n}${NAMES[kind]} of CHAOS_SEED=${SEED}`, async ({ newConsumer, site, later }) => {
      test.setTimeout(CHAOS_MS);
      await randomRun(kind, n, site.url, later, newConsumer);
    });
  }
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

async function randomRun(
  kind: ChaosKind,
  n: number,
  siteUrl: string,
  later: (undo: () => unknown) => void,
  newConsumer: (version: ChaosPlan['playwright']) => Promise<Consumer>,
): Promise<void> {
  const plan = chaosPlan(SEED * 10_000 + OFFSET[kind] + n, kind);
  requiresFor(plan);
  const result: ChaosResult = {
    ...{
      kind,
      run: n,
      setSeed: SEED,
      commit: process.env.CHAOS_COMMIT ?? null,
      ok: false,
      at: Date.now(),
      ms: 0,
      traits: traitsOf(plan),
      blow: blowOf(plan),
    },
    ...{ judged: 'after the run', struck: false, left: [], touched: [], error: null, output: () => '' },
  };
  await test.info().attach('plan', { body: JSON.stringify(plan, null, 2), contentType: 'application/json' });
  const started = performance.now();
  try {
    await runChaos(plan, await newConsumer(plan.playwright), siteUrl, result, later);
    result.ok = true;
  } catch (error) {
    const text = stripVTControlCharacters(errorMessage(error));
    result.error = text.split('\n').find((line) => line.trim() !== '') ?? '';
    const said = [text, `the plan: ${JSON.stringify(plan)}`, `what it printed: ${result.output()}`];
    said.push(`alone: CHAOS_SEED=${SEED} node scripts/faults.mjs ${ALONE[kind](n)} --only ${n}`);
    throw new Error(said.join('\n\n'), { cause: error });
  } finally {
    result.ms = Math.round(performance.now() - started);
    // One that the end of the set has broken off does not count; `--resume` plays it again.
    if (test.info().status !== 'interrupted') tally(result);
  }
}
