import fc from 'fast-check';

/** The steps of a history of runs, directories and sweeps. */

/** One step. Numbers select from what exists. */
export type Step =
  | { do: 'start'; place: number; directory: number; sameRun: boolean }
  | { do: 'ask'; run: number; pool: boolean; outcome: 'got' | 'lost' | 'lost-made' | 'refused'; noted: boolean }
  | { do: 'end'; run: number; session: number; outcome: 'confirmed' | 'doubt' | 'doubt-ended' }
  | { do: 'pool'; run: number; gone: boolean }
  | { do: 'pass'; minutes: number; lost: 'nothing' | 'notes' | 'everything' }
  | { do: 'expire' | 'crash' | 'reboot'; which: number }
  | { do: 'skew'; machine: number; hours: number }
  | { do: 'disk'; directory: number; works: boolean }
  | { do: 'junk'; directory: number; kind: number }
  | { do: 'foreign'; note: number }
  | {
      do: 'sweep';
      place: number;
      directory: number;
      flag: 'none' | 'run' | 'over' | 'replaces';
      run: number;
      near: boolean;
      fails: number[];
    };

const index = fc.nat(7);
const bool = fc.boolean();
const lost = fc.constantFrom('nothing', 'nothing', 'nothing', 'notes', 'everything');

const start = fc.record({ do: fc.constant('start'), place: index, directory: index, sameRun: bool });
const ask = fc.record({
  do: fc.constant('ask'),
  run: index,
  pool: bool,
  outcome: fc.constantFrom('got', 'got', 'lost', 'lost-made', 'refused'),
  noted: bool,
});
const step = fc.oneof(
  { weight: 2, arbitrary: start },
  { weight: 6, arbitrary: ask },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('end'),
      run: index,
      session: index,
      outcome: fc.constantFrom('confirmed', 'doubt', 'doubt-ended'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pool'), run: index, gone: bool }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('pass'), minutes: fc.integer({ min: 1, max: 30 }), lost }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('expire'), which: index }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('crash'), which: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reboot'), which: index }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('skew'), machine: index, hours: fc.integer({ min: -5, max: 5 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('disk'), directory: index, works: bool }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('junk'), directory: index, kind: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('foreign'), note: index }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('sweep'),
      place: index,
      directory: index,
      flag: fc.constantFrom('none', 'none', 'run', 'over', 'replaces'),
      run: index,
      near: bool,
      fails: fc.oneof(
        { weight: 3, arbitrary: fc.constant([]) },
        { weight: 2, arbitrary: fc.array(fc.nat(6), { minLength: 1, maxLength: 2 }) },
      ),
    }),
  },
);

/** Histories in which sweeps find something: runs exist from the beginning, and they often request browsers and die. */
export const history = fc
  .tuple(start, ask, start, ask, fc.array(step, { minLength: 4, maxLength: 16, size: 'max' }))
  .map(([first, one, second, another, rest]) => [first, one, second, another, ...rest] as Step[]);
