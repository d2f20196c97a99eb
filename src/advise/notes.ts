import { largest, smallest } from '../common/numbers/extremes.ts';
import type { Model } from './past/model.ts';
import type { PastRun } from './past/past-runs.ts';
import { median, sum } from './statistics.ts';

/** From this share of an older run's tests on that the newest one does not have, the newest one may be a part of the suite. */
const MISSING_SHARE = 0.2;

/** From so many times as long in runs with more workers, tests wait for the machine that runs them. */
const LONGER = 1.15;

/** What the figures take for granted, or do not know: one sentence each. */
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

function modeNote({ modeIs, tests, groups }: Model): string | null {
  if (modeIs !== 'assumed' || tests.length === groups.length) return null;
  return 'The records do not show whether the tests of a file run side by side: taken for no, as Playwright does it unless told otherwise (--fully-parallel if your config sets fullyParallel).';
}

function sizeNote({ tests }: Model, runs: readonly PastRun[]): string | null {
  const now = new Set(tests.map(({ id }) => id));
  const before = new Set(runs.slice(0, -1).flatMap(({ parts }) => parts.flatMap(idsOf)));
  const gone = [...before].filter((id) => !now.has(id)).length;
  if (gone <= MISSING_SHARE * before.size) return null;
  return `The newest run has ${now.size} tests; ${gone} of the older runs are not in it. If it ran a part of the suite only, leave it out.`;
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
  return known > 0 ? null : 'The records hold no waits and start times (they are from blobs): waits count as none.';
}

function serviceNote(runs: readonly PastRun[]): string | null {
  const services = new Set(runs.flatMap(({ parts }) => parts.map(({ service }) => service)));
  if (!services.has('emulator')) return null;
  return services.size > 1
    ? 'Some of the runs were on the emulator, whose browsers start in other times than hosted ones.'
    : 'The runs were on the emulator: hosted browsers start in other times.';
}

function phaseNote({ projects, phases, sharedPhase }: Model): string | null {
  const others = projects.filter((_, n) => phases[n] !== sharedPhase);
  if (others.length === 0) return null;
  return `Taken for projects that others depend on, which run first or last and in every shard: ${others.join(', ')}.`;
}

function runsNote(runs: readonly PastRun[]): string | null {
  if (runs.length > 1) return null;
  return 'From one run: the 90th percentile knows how waits vary, not how the tests do. Give the run.json of several.';
}

/** The same tests in runs with more and with fewer workers: the simulation takes their times as they are. */
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
  return `Tests take ${more} % longer in the runs with ${most} workers than in those with ${fewest}: the machine that runs them is a bound, which the table does not know.`;
}
