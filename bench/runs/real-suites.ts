import { exampleSuite } from './example.ts';
import { type RealSuite, smallTests, waitingTests } from './real-suite.ts';

const START_DELAY_MS = 3_000;
const IN_SLOW_BROWSERS = 'Every browser of the service takes 3 s longer to start; the local one does not.';

const one = {
  title: 'One test',
  about: 'From `playwright test` to its exit: what a cold start costs.',
  rounds: 15,
  workers: 1,
  files: { 'one.spec.ts': smallTests(1) },
  site: 'outside',
  passes: 1,
  fails: 0,
} as const;

const restarts = {
  title: '20 tests, half of them failing',
  about: 'One worker at a time; Playwright replaces it after each failed test.',
  rounds: 9,
  workers: 1,
  files: { 'restarts.spec.ts': smallTests(20, (index) => index % 2 === 0) },
  site: 'outside',
  passes: 10,
  fails: 10,
  goal: { over: 'local', atMost: 1.1 },
} as const;

const SMALL = 200;
const small = {
  rounds: 9,
  workers: 1,
  startDelay: 0,
  files: { 'small.spec.ts': smallTests(SMALL) },
  passes: SMALL,
  fails: 0,
} as const;

const smallOutside = {
  ...small,
  name: 'small',
  title: '200 small tests',
  about: 'Each test opens a page, navigates and reads it, on one worker. Every browser reaches the site directly.',
  site: 'outside',
} as const;

const FILES = 10;
const TESTS_OF_FILE = 4;
const files = {
  name: 'files',
  title: 'Ten files on four workers',
  about: `${TESTS_OF_FILE} small tests in each file. Every browser reaches the site directly.`,
  rounds: 9,
  workers: 4,
  startDelay: 0,
  files: Object.fromEntries(
    Array.from({ length: FILES }, (_, index) => [`small-${index}.spec.ts`, smallTests(TESTS_OF_FILE)]),
  ),
  site: 'outside',
  passes: FILES * TESTS_OF_FILE,
  fails: 0,
  goal: { over: 'local', atMost: 1.08 },
} as const;

const WAITING_FILES = 10;
const waiting = {
  name: 'waiting',
  title: '30 tests that mostly wait',
  about:
    'Ten files of three tests; each test opens a page and waits for 2 s. The plan allows 10 browsers. One side has as many workers as Playwright starts on this machine, the other as many as poolwright chooses.',
  rounds: 3,
  workers: null,
  startDelay: 0,
  files: Object.fromEntries(
    Array.from({ length: WAITING_FILES }, (_, index) => [`waiting-${index}.spec.ts`, waitingTests(3, 2_000)]),
  ),
  site: 'outside',
  passes: 30,
  fails: 0,
  sides: ['half-the-cores', 'session'],
  goal: { sides: ['session'], over: 'half-the-cores', atMost: 0.45 },
} as const;

/**
 * The same suite on browsers that are `rtt` ms away and back; `floor` is a plain `connectOverCDP`.
 * @param relayLimit goal of a relay beside `floor`; none unless given
 */
function away(suite: RealSuite, rtt: number, limit: number, relayLimit?: number): RealSuite {
  const relayGoal = relayLimit === undefined ? [] : [{ sides: ['relay'], over: 'floor', atMost: relayLimit }];
  return {
    ...suite,
    name: `${suite.name}-${rtt}ms`,
    title: `${suite.title}, browsers ${rtt} ms away`,
    about: `${suite.about} The link to the browsers takes ${rtt} ms there and back.`,
    rounds: 3,
    rtt,
    goal: [{ sides: ['session'], over: 'floor', atMost: limit }, ...relayGoal],
  };
}

/** In the order of the page. */
export const REAL_SUITES: RealSuite[] = [
  { ...one, name: 'one', startDelay: 0, goal: { over: 'local', atMost: 1.12 } },
  {
    ...one,
    name: 'one-slow',
    title: `${one.title}, browsers that start slowly`,
    about: `${one.about} ${IN_SLOW_BROWSERS}`,
    startDelay: START_DELAY_MS,
  },
  { ...restarts, name: 'restarts', startDelay: 0 },
  {
    ...restarts,
    name: 'restarts-slow',
    title: `${restarts.title}, browsers that start slowly`,
    about: `${restarts.about} ${IN_SLOW_BROWSERS}`,
    startDelay: START_DELAY_MS,
  },
  files,
  { ...smallOutside, goal: { over: 'local', atMost: 1.03 } },
  {
    ...smallOutside,
    name: 'small-traced',
    title: '200 small tests with traces',
    about: 'The same tests with `trace: retain-on-failure`.',
    use: "trace: 'retain-on-failure',",
    goal: { over: 'local', atMost: 1.08 },
  },
  {
    ...small,
    name: 'bridged',
    title: '200 small tests, site on loopback',
    about: 'The same; poolwright proxies what pages load from loopback, the other sides do not.',
    site: 'loopback',
  },
  {
    ...smallOutside,
    name: 'watch',
    title: '200 small tests on 4 workers, watched',
    about:
      'Sessions with nobody watching, with `poolwright watch` and a page with four tiles open (in a headless shell on the same two cores), and, with BENCH_EARLIER, an earlier build that cannot be watched.',
    workers: 4,
    rounds: 5,
    config: 'fullyParallel: true,',
    sides: ['earlier', 'session', 'watched'],
    goal: [
      { sides: ['session'], over: 'earlier', atMost: 1.01 },
      { sides: ['watched'], over: 'session', atMost: 1.1 },
    ],
  },
  {
    ...smallOutside,
    name: 'film',
    title: '200 small tests, filmed',
    about: 'Sessions with and without the option `film`, on one worker.',
    rounds: 5,
    sides: ['session', 'film-failures', 'film-on'],
  },
  waiting,
  exampleSuite(),
  ...[smallOutside, exampleSuite()].flatMap((suite) => [
    away(suite, 100, 0.55, 0.55),
    away(suite, 20, 0.8),
    away(suite, 0, 1.01),
  ]),
  away(exampleSuite(false), 100, 0.55, 0.45),
];
