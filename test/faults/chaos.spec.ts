import type { Consumer } from '../e2e/harness/consumer.ts';
import { test } from '../e2e/harness/fixtures.ts';
import { blowOf, type ChaosPlan, chaosPlan, traitsOf } from './chaos-plan.ts';
import { CHAOS_MS, runChaos } from './chaos-run.ts';
import { feasible } from './chaos-surroundings.ts';
import { type ChaosResult, tally } from './chaos-tally.ts';

/**
 * Short suites with random faults, random surroundings and random deaths. However a run ends, no browser is left alive, no end
 * is left unconfirmed, and nothing of anybody else's is touched. `CHAOS_RUNS` says how many on stub browsers, `CHAOS_REAL`
 * how many on real ones; run n of `CHAOS_SEED` draws the same every time.
 */

const SEED = Number(process.env.CHAOS_SEED ?? 1);
const RUNS = { stub: Number(process.env.CHAOS_RUNS ?? 10), chromium: Number(process.env.CHAOS_REAL ?? 2) };
/** Runs of an earlier go at this set that need not be done again. */
const DONE = new Set((process.env.CHAOS_DONE ?? '').split(','));
/** So that the real runs of a seed are not its stub runs again. */
const OFFSET = { stub: 0, chromium: 5_000 };

type Kind = ChaosPlan['browser'];

for (const kind of ['stub', 'chromium'] as const) {
  for (let n = 1; n <= RUNS[kind]; n += 1) {
    if (DONE.has(`${kind}-${n}`)) continue;
    const name = kind === 'stub' ? `chaos run ${n}` : `chaos run ${n} on Chromium`;
    test(`${name} of CHAOS_SEED=${SEED}`, async ({ newConsumer, site }) => {
      test.setTimeout(CHAOS_MS);
      await randomRun(kind, n, newConsumer, site.url);
    });
  }
}

async function randomRun(
  kind: Kind,
  n: number,
  newConsumer: (version: ChaosPlan['playwright']) => Promise<Consumer>,
  siteUrl: string,
): Promise<void> {
  const plan = feasible(chaosPlan(SEED * 10_000 + OFFSET[kind] + n, kind));
  const result: ChaosResult = {
    ...{ kind, run: n, setSeed: SEED, ok: false, at: Date.now(), ms: 0, traits: traitsOf(plan), blow: blowOf(plan) },
    ...{ struck: false, left: [], touched: [], error: null, output: () => '' },
  };
  await test.info().attach('plan', { body: JSON.stringify(plan, null, 2), contentType: 'application/json' });
  const started = performance.now();
  try {
    await runChaos(plan, await newConsumer(plan.playwright), siteUrl, result);
    result.ok = true;
  } catch (error) {
    const numbers = kind === 'stub' ? `${n} --real 0` : `0 --real ${n}`;
    const text = error instanceof Error ? error.message : String(error);
    result.error = text.split('\n').find((line) => line.trim() !== '') ?? '';
    const said = [text, `the plan: ${JSON.stringify(plan)}`, `what it printed: ${result.output()}`];
    said.push(`alone: CHAOS_SEED=${SEED} npm run test:faults -- ${numbers} --only ${n}`);
    throw new Error(said.join('\n\n'), { cause: error });
  } finally {
    result.ms = Math.round(performance.now() - started);
    tally(result);
  }
}
