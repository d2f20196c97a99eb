import type { Project } from '@playwright/test';

/**
 * Which tests run in which gear. `npm test` and `npm cit` run the first gear: the tests that find most faults for
 * their time, in at most 4 minutes on a fast machine. `npm run test:all` runs every test. A test that is not listed
 * here runs in the second gear only.
 *
 * What decides is test/mutants: the first gear finds at least 34 of its planted faults. The second gear has what needs
 * many real runs or full Chromium (each runner's own features, reports, rare requests, other CI systems, watching), and
 * repetitions of what a model or one case already shows.
 */

/** Why these tests, and which: a file below the project's directory, alone or with parts of its tests' titles. */
interface Selection {
  readonly why: string;
  readonly tests: Readonly<Record<string, readonly string[]>>;
}

/** All tests of a file. */
const ALL: readonly string[] = [];

/** Per project of playwright.config.ts. Projects that are not named run in the second gear. */
export const FIRST_GEAR: Readonly<Record<string, 'all' | readonly Selection[]>> = {
  unit: 'all', // rules, models and random histories: no browser, no process
  package: [
    {
      why: 'docs, words and workflows that a change makes untrue',
      tests: {
        tally: ALL,
        'docs/code': ALL,
        'docs/commands': ALL,
        'docs/links': ALL,
        'docs/readme': ALL,
        words: ALL,
        workflows: ALL,
      },
    },
    { why: 'what the package loads lazily', tests: { 'lazy-loads': ALL } },
  ],
  'built-esm': 'all', // the same on what was built: bundling breaks what the sources do right
  emulator: [
    {
      why: "the service's contract",
      tests: {
        'api/account': ALL,
        'api/authentication': ALL,
        'api/endpoints': ALL,
        'api/extensions': ALL,
        'api/openapi': ALL,
        'api/pools': ALL,
        'api/profiles': ALL,
        'api/sessions': ALL,
        'api/validation': ALL,
      },
    },
    {
      why: 'browsers end with their session, and are reached by nobody else',
      tests: {
        'browsers/cdp-relay': ALL,
        'browsers/metering': ALL,
        'process/processes': ['when it is killed', 'on SIGTERM'],
        'process/security': ['DNS rebinding', 'CDP tokens'],
      },
    },
    { why: 'no secret in its log', tests: { 'process/log-secrets': ALL } },
  ],
  cdp: [
    {
      why: 'messages and the connection',
      tests: {
        'transport/messages': ALL,
        'transport/failed-connections': ALL,
      },
    },
    {
      why: 'local servers: reached by what the test goes to, not by foreign pages',
      tests: {
        'network/auto-exposure': ALL,
        'network/parallel-visits': ALL,
        'network/hostile-pages': ['by itself, to another port', 'redirects there', 'foreign frame or popup'],
        'network/initiator-histories': ['one pro'],
        'network/files': ALL,
        'network/random-histories': ALL,
      },
    },
    {
      why: 'downloads and uploads',
      tests: {
        'files/downloads': ALL,
        'files/uploads': ['file chooser', 'the headless shell', 'whose page closes'],
      },
    },
    {
      why: "latency's laws, one seed",
      tests: {
        'latency/current-answers': ALL,
        'latency/random-actions': ALL,
        'latency/one-response': ['ahead, auto'],
      },
    },
    {
      why: 'contexts that are kept or swept',
      tests: {
        'contexts/persistent-context': ['Playwright latest › keeps cookies', 'Playwright latest › deletes cookies'],
        'contexts/foreign-targets': ALL,
      },
    },
    {
      why: 'bytes, pictures and Puppeteer',
      tests: {
        'metering/meter': ['service’s own figure', 'each request once'],
        'screencast/puppeteer': ALL,
        'puppeteer/connected': ALL,
      },
    },
  ],
  e2e: [
    {
      why: 'the main job: an untouched suite on a pool and on sessions',
      tests: {
        'runs/untouched-suite': ['Playwright latest'],
        'runs/projects': ['each has its options', 'a pool made for the run'],
        'runs/reuse': ['within the run'],
        'runs/session-fixture': ['without the wrapper'],
      },
    },
    {
      why: 'limits and bad input',
      tests: {
        'runs/waiting': ['lets each worker ask once'],
        'runs/bad-input': ['invalid options', 'no key in CI', 'an unknown pool'],
      },
    },
    {
      why: "the user's own browsers",
      tests: {
        'runs/own-browsers': ['take turns'],
        'runs/own-provider': ['workers wait at its limit', 'a killed broker'],
      },
    },
    {
      why: 'nothing is left: each kind of death once',
      tests: {
        'recovery/nothing-left': ALL,
        'recovery/sweep': ['that a dead run left', 'is replaced at once'],
        'recovery/loss': ['with the reason'],
        'recovery/early-broker': ['killed before'],
      },
    },
    {
      why: 'local servers and files in a run',
      tests: {
        'network/network-proxy': ['embedded emulator'],
        'network/files': ['downloaded and uploaded'],
        'network/own-servers': ALL,
      },
    },
    {
      why: 'each runner and client once',
      tests: {
        'runners/runners': ['uses one browser until'],
        'puppeteer/lease-browser': ['gives its browser back', 'SIGKILL of itself'],
        'relay/suite': ['latest'],
      },
    },
    {
      why: 'what a run reports',
      tests: {
        'report/record': ALL,
        'report/report': ALL,
      },
    },
    {
      why: 'the package as it ships, and its commands',
      tests: {
        'package/consumer': ['loads every entry', 'only installed packages', 'runs a suite', 'loads no zod'],
        'package/first-minutes': ['adds a script for hosted ones'],
        'commands/process': ['exit code'],
        'commands/doctor': ['a healthy service'],
        'watch/page': ['gives nothing to others'],
      },
    },
  ],
  faults: [
    {
      why: 'a service that fails, a broker that hangs',
      tests: {
        'service-faults': ['in every way', 'by its note', '402: '],
        hangs: ['is killed and replaced'],
      },
    },
  ],
};

const GEARS = ['first', 'rest', 'all'] as const;
export type Gear = (typeof GEARS)[number];

/** `POOLWRIGHT_GEAR`; without it, every test, so that files and projects can be named. */
export function gearOf(value = 'all'): Gear {
  const gear = GEARS.find((each) => each === value);
  if (!gear) throw new Error(`POOLWRIGHT_GEAR must be one of ${GEARS.join(', ')}, not ${value}`);
  return gear;
}

/** One regular expression per line of a project: it matches "project path title", as Playwright joins them. */
export function selected({
  name = '',
  testDir = '',
}: Pick<Project, 'name' | 'testDir'>): { source: string; pattern: RegExp }[] {
  const listed = FIRST_GEAR[name];
  if (listed === undefined || listed === 'all') return [];
  return listed.flatMap(({ tests }) =>
    Object.entries(tests).flatMap(([file, titles]) => {
      const path = `${escaped(`${testDir}/${file}.spec.ts`)} `;
      if (titles.length === 0) return [{ source: file, pattern: new RegExp(path) }];
      return titles.map((title) => ({
        source: `${file} › ${title}`,
        pattern: new RegExp(`${path}.*${escaped(title)}`),
      }));
    }),
  );
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' › ', ' ');
}

/** The projects, each with its tests of a gear. */
export function inGear<P extends Project<object>>(gear: Gear, projects: readonly P[]): P[] {
  if (gear === 'all') return [...projects];
  return projects.map((project) => {
    const listed = FIRST_GEAR[project.name ?? ''];
    const whole = listed === 'all';
    if (gear === 'first' ? whole : listed === undefined) return project;
    if (gear === 'first' ? listed === undefined : whole) return { ...project, testIgnore: '**' };
    const patterns = selected(project).map(({ pattern }) => pattern);
    if (gear === 'first') return { ...project, grep: patterns };
    return { ...project, grepInvert: [project.grepInvert ?? [], patterns].flat() };
  });
}
