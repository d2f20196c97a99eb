import { largest, smallest } from '../../common/numbers/extremes.ts';
import type { Model } from './past/model.ts';
import type { PastRun } from './past/past-runs.ts';
import { median, sum } from './statistics.ts';

/**
 * If more than this share of the older runs' tests is missing in the newest run, it may contain only a part of the
 * suite.
 */
const MISSING_SHARE = 0.2;

/** If tests take this much longer in runs with more workers, the test machine limits them. */
const LONGER = 1.15;

/** Assumptions behind the figures, and unknowns, one sentence each. */
export function notesOn(model: Model, runs: readonly PastRun[]): string[] {
  const notes = [
    modeNote(model),
    sizeNote(model, runs),
    waitNote(model),
    serviceNote(runs),
    phaseNote(model),
    runsNote(runs),
    machineNote(model),
  ];
  return notes.flatMap((note) => note ?? []);
}

function modeNote({ modeSource, tests, groups }: Model): string | null {
  if (modeSource !== 'assumed' || tests.length === groups.length) return null;
  return 'The records do not show whether the tests of a file run in parallel. Assumed: they do not, which is the default of Playwright (use --fully-parallel if your config sets fullyParallel).';
}

function sizeNote({ tests }: Model, runs: readonly PastRun[]): string | null {
  const now = new Set(tests.map(({ id }) => id));
  const before = new Set(runs.slice(0, -1).flatMap(({ parts }) => parts.flatMap(idsOf)));
  const gone = [...before].filter((id) => !now.has(id)).length;
  if (gone <= MISSING_SHARE * before.size) return null;
  return `The newest run has ${now.size} tests and lacks ${gone} of the tests in older runs. If it ran only a part of the suite, leave it out.`;
}

function idsOf({ sessions }: PastRun['parts'][number]): string[] {
  return sessions.flatMap(({ tests }) => tests.map(({ id }) => id));
}

function waitNote({ runs }: Model): string | null {
  const known = sum(
    runs.flatMap(({ samples: { waits } }) =>
      Object.values(waits).map(({ first, later }) => first.length + later.length),
    ),
  );
  return known > 0
    ? null
    : 'The records contain no wait and start times (they come from blobs), so waits count as zero.';
}

function serviceNote(runs: readonly PastRun[]): string | null {
  const services = new Set(runs.flatMap(({ parts }) => parts.map(({ service }) => service)));
  if (!services.has('emulator')) return null;
  return services.size > 1
    ? 'Some of the runs used the emulator, whose browsers have other start times than hosted ones.'
    : 'The runs used the emulator. Hosted browsers have other start times.';
}

function phaseNote({ projects, phases, sharedPhase }: Model): string | null {
  const others = projects.filter((_, n) => phases[n] !== sharedPhase);
  if (others.length === 0) return null;
  return `Assumed to be dependencies of other projects, which run first or last and in every shard: ${others.join(', ')}.`;
}

function runsNote(runs: readonly PastRun[]): string | null {
  if (runs.length > 1) return null;
  return 'Based on one run: the 90th percentile includes how waits vary, but not how tests vary. Pass the run.json of several runs.';
}

/** Compares the same tests in runs with more and with fewer workers. The simulation does not scale their times. */
function machineNote({ runs }: Model): string | null {
  const workers = runs.map((run) => run.workers);
  const [fewest, most] = [smallest(workers), largest(workers)];
  const [few, many] = [fewest, most].map((count) => runs.filter((run) => run.workers === count));
  const msOf = (some: typeof runs | undefined, test: number) =>
    median((some ?? []).flatMap(({ tries }) => tries[test]?.at(-1)?.ms ?? []));
  const ratios = (runs[0]?.tries ?? []).flatMap((_, test) => {
    const before = msOf(few, test);
    return before > 0 ? [msOf(many, test) / before] : [];
  });
  const ratio = median(ratios);
  if (fewest === most || ratio < LONGER) return null;
  const more = Math.round((ratio - 1) * 100);
  return `Tests take ${more} % longer in the runs with ${most} workers than in those with ${fewest}: the test machine limits them. The table does not include this effect.`;
}
