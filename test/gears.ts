import type { Project } from '@playwright/test';

/**
 * Which tests run in which gear. `npm test` and `npm cit` run the first gear: the tests that find most faults for
 * their time, in at most 4 minutes on a fast machine. `npm run test:all` runs both gears: every test but those that are
 * `@slow`, which run before a release (`scripts/long.mjs`). Those that are not listed here run in the second gear.
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
export const FIRST_GEAR: Readonly<Record<string, readonly Selection[]>> = {
  package: [
    {
      why: 'docs, words and workflows that a change makes untrue',
      tests: { 'docs/links': ALL, 'docs/readme': ALL, words: ALL, workflows: ALL },
    },
    { why: 'what the package loads lazily', tests: { 'lazy-loads': ALL } },
  ],
  emulator: [
    {
      why: "the service's contract",
      tests: {
        'api/account': ALL,
        'api/authentication': ALL,
        'api/endpoints': ALL,
        'api/pools': ['leases a warm browser', 'in order', 'only by force', 'in time'],
        'api/sessions': [
          'for good',
          'at its duration',
          'that start',
          'when Chromium hangs',
          'as soon as a stop returns',
        ],
        'api/validation': ALL,
      },
    },
    {
      why: 'browsers end with their session, and are reached by nobody else',
      tests: {
        'browsers/cdp-relay': ['with a wrong token', 'its own sessions'],
        'browsers/metering': ['only the session'],
        'process/processes': ['when it is killed'],
        'process/security': ['DNS rebinding'],
      },
    },
  ],
  cdp: [
    {
      why: 'the connection',
      tests: { 'transport/messages': ['without the address'], 'transport/failed-connections': ['Playwright latest'] },
    },
    {
      why: 'local servers: reached by what the test goes to, not by foreign pages',
      tests: {
        'network/auto-exposure': ['popups of its server: ordinary', 'of its pages request'],
        'network/parallel-visits': ['at once, and nothing'],
        'network/hostile-pages': ['redirects there', 'foreign frame or popup'],
        'network/random-histories': ['what the test visits'],
      },
    },
    {
      why: 'downloads and uploads',
      tests: {
        'files/downloads': ['over HTTP, from blobs', 'cannot be fetched'],
        'files/uploads': ['file chooser', 'whose page closes'],
      },
    },
    { why: "latency's laws, one seed", tests: { 'latency/random-actions': ALL } },
    { why: 'contexts that are kept or swept', tests: { 'contexts/persistent-context': ['latest › deletes cookies'] } },
    {
      why: 'bytes, and Puppeteer',
      tests: {
        'metering/meter': ['each request once'],
        'puppeteer/connected': ['existing pages', 'connection is cut', 'proxies loopback'],
      },
    },
  ],
  e2e: [
    {
      why: 'the main job: an untouched suite',
      tests: { 'runs/untouched-suite': ['Playwright latest'] },
    },
    { why: 'bad input', tests: { 'runs/bad-input': ['no key in CI'] } },
    { why: "the user's own browsers", tests: { 'runs/own-provider': ['a killed broker'] } },
    {
      why: 'nothing is left: each kind of death once',
      tests: {
        'recovery/nothing-left': ['Ctrl-C › leaves no browser of', 'of the runner', 'of a worker'],
      },
    },
    { why: 'local servers in a run', tests: { 'network/network-proxy': ['embedded emulator'] } },
    {
      why: 'each runner and client once',
      tests: {
        'runners/vitest': ['pool threads'],
        'runners/jest': ['one page per file'],
        'runners/mocha': ['mocha  ›'],
        'runners/node-test': ['of all files'],
        'puppeteer/lease-browser': ['poolwright/puppeteer: gives its browser back'],
      },
    },
    {
      why: 'the package as it ships, and its commands',
      tests: {
        'package/consumer': ['loads every entry', 'templates of init', 'runs a suite'],
        'commands/process': ['exit code'],
        'watch/page': ['gives nothing to others'],
      },
    },
  ],
  faults: [
    {
      why: 'a service that fails, a broker that hangs',
      tests: { 'service-faults': ['in every way'], hangs: ['is killed and replaced'] },
    },
  ],
};

/** Projects whose tests all run in the first gear, but for these. */
export const SECOND_GEAR: Readonly<Record<string, readonly Selection[]>> = {
  // Rules, models and random histories: no browser, and hardly a process.
  unit: [
    {
      why: 'memory and very large inputs, which keep the processor busy with collecting garbage',
      tests: {
        'cdp/bounded-memory': ALL,
        'cdp/latency/flat-memory': ALL,
        'relay/process-memory': ALL,
        'report/hostile-records': ['more tests than a call'],
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

/** One regular expression per line of a list: it matches "project path title", as Playwright joins them. */
export function patternsOf(testDir: string, list: readonly Selection[]): { source: string; pattern: RegExp }[] {
  return list.flatMap(({ tests }) =>
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

/** A title may have the arrow itself; between titles, Playwright joins with spaces only. */
function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' › ', '(?: ›)? ');
}

/** The projects, each with its tests of a gear. */
export function inGear<P extends Project<object>>(gear: Gear, projects: readonly P[]): P[] {
  if (gear === 'all') return [...projects];
  return projects.map((project) => {
    const { name = '', testDir = '' } = project;
    const excluded = SECOND_GEAR[name];
    const list = excluded ?? FIRST_GEAR[name] ?? [];
    const patterns = patternsOf(testDir, list).map(({ pattern }) => pattern);
    // Whether this gear runs what is listed, or everything else.
    const isListed = (gear === 'first') === (excluded === undefined);
    if (!isListed) return { ...project, grepInvert: [project.grepInvert ?? [], patterns].flat() };
    // Files that have none of them are not even loaded.
    const files = list.flatMap(({ tests }) => Object.keys(tests).map((file) => `**/${file}.spec.ts`));
    return files.length === 0 ? { ...project, testIgnore: '**' } : { ...project, testMatch: files, grep: patterns };
  });
}
