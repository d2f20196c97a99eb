import { readFileSync, statSync } from 'node:fs';
import { basename, sep } from 'node:path';
import { IGNORED } from './find-config.ts';
import { globSync } from './libraries.ts';
import type { Plan } from './plan.ts';
import type { Project } from './project.ts';

/** What another set-up leaves in a project, and what to do about it. */
interface Trace {
  /** In which files, by their name. */
  files: RegExp;
  /** On which lines. */
  line: RegExp;
  what: string;
  todo: string;
  /** Whether it is the suite's own, and may stay. */
  isOwn?: true;
}

const SOURCES = /\.[cm]?[jt]sx?$/;
const ANY = /./;
const BY_US = "poolwright provides hosted browsers through Playwright's `browser`, `context` and `page`";

const TRACES: Trace[] = [
  {
    files: SOURCES,
    line: /\bchromium\s*\.\s*launch(PersistentContext|Server)?\s*\(/,
    what: 'a browser that the code starts itself',
    todo: 'It stays on this machine. For a hosted one, use the fixtures `browser`, `context` or `page`, or `leaseBrowser` from poolwright/playwright-library: "Browsers that your code starts" in docs/getting-started.md.',
    isOwn: true,
  },
  {
    files: SOURCES,
    line: /\bconnectOverCDP\s*\(/,
    what: 'a browser connected by hand (connectOverCDP)',
    todo: `Remove this fixture, and its import from the tests: ${BY_US}. For the session's ID import \`test\` from poolwright.`,
  },
  {
    files: SOURCES,
    line: /\b(chromium|firefox|webkit|browserType|playwright)\.connect\s*\(/,
    what: 'a Playwright server connected by hand (connect)',
    todo: `Remove this fixture, and its import from the tests: ${BY_US}.`,
  },
  {
    files: SOURCES,
    line: /\bconnectOptions['"]?\s*[:=]/,
    what: '`connectOptions`: another remote browser',
    todo: "Remove it: a wrapped project that has it fails with an error. To keep it in a project, set `hosted: false` in that project's `use`.",
  },
  {
    files: SOURCES,
    line: /['"]@azure\/(microsoft-)?playwright(-testing)?(\/reporter)?['"]/,
    what: "Azure's Playwright service",
    todo: 'Remove this config, or its parts of the service (getServiceConfig, createAzurePlaywrightConfig, its reporter), and the script that passes it with -c.',
  },
  {
    files: /^package\.json$/,
    line: /"@azure\/(microsoft-)?playwright(-testing)?"\s*:/,
    what: "Azure's Playwright service",
    todo: 'Uninstall it, and @azure/identity if nothing else needs it.',
  },
  {
    files: ANY,
    line: /\bPLAYWRIGHT_SERVICE_(URL|ACCESS_TOKEN|RUN_ID)\b/,
    what: "a variable of Azure's Playwright service",
    todo: 'Remove it.',
  },
  {
    files: /^package\.json$/,
    line: /browserstack-node-sdk/,
    what: "BrowserStack's SDK",
    todo: 'Remove it from the scripts (`browserstack-node-sdk playwright test` becomes `playwright test`) and uninstall it: it replaces all browsers with its own.',
  },
  {
    files: /^browserstack\.ya?ml$/,
    line: ANY,
    what: "BrowserStack's config",
    todo: 'Remove it. Its `platforms` become projects: `use: { hosted: { session: { … } } }`.',
  },
  {
    files: ANY,
    line: /\bcdp\.browserstack\.com|\bBROWSERSTACK_(USERNAME|ACCESS_KEY)\b/,
    what: "BrowserStack's address or account",
    todo: 'Remove it, with the fixture or option that uses it.',
  },
  {
    files: ANY,
    line: /\bcdp\.lambdatest\.com|\bLT_(USERNAME|ACCESS_KEY)\b/,
    what: "LambdaTest's address or account",
    todo: 'Remove it, with the fixture or capabilities that use it; the capabilities become projects.',
  },
  {
    files: SOURCES,
    line: /['"][^'"]*lambdatest-setup['"]/,
    what: "LambdaTest's fixture",
    todo: 'Import `test` from @playwright/test again, and remove that file.',
  },
  {
    files: SOURCES,
    line: /\bpuppeteer\.connect\s*\(|\bbrowserWSEndpoint\b/,
    what: 'a browser that Puppeteer connects to by hand',
    todo: 'Remove it: poolwright connects the browser that each test gets.',
  },
  {
    files: ANY,
    line: /\bPW_TEST_CONNECT_WS_ENDPOINT\b/,
    what: "Playwright's variable for a remote browser",
    todo: 'Remove it: it overrides the browser in every config.',
  },
];

/** Larger ones, in bytes, are not written by hand. */
const LARGEST = 512 * 1024;
/** Lines of one kind in one project: the rest looks the same. */
const MOST_OF_A_KIND = 8;
const COMMENT = /^\s*(\/\/|\*|\/\*|#)/;

/**
 * Searches the project's sources for leftovers of another vendor's setup, and for browsers that they start. Values of
 * `.env` are not read.
 */
export function findLeftovers(plan: Plan, { directory, root }: Project): void {
  const options = { ignore: IGNORED, absolute: true, dot: false };
  const files = new Set([
    ...globSync(
      ['**/*.{ts,js,mts,mjs,cts,cjs,tsx,jsx}', '**/browserstack.{yml,yaml}', 'package.json', '.env.example'],
      {
        ...options,
        cwd: directory,
      },
    ),
    ...globSync(
      ['.github/workflows/*.{yml,yaml}', '.gitlab-ci.yml', '.circleci/config.yml', '.buildkite/pipeline.yml'],
      {
        cwd: root,
        absolute: true,
        dot: true,
      },
    ),
  ]);
  const counts = new Map<Trace, number>();
  for (const path of [...files].sort()) {
    const file = path.replaceAll('/', sep);
    for (const [trace, line] of tracesIn(file)) {
      const count = (counts.get(trace) ?? 0) + 1;
      counts.set(trace, count);
      const list = trace.isOwn ? plan.launches : plan.leftovers;
      if (count <= MOST_OF_A_KIND) list.push({ file, line, what: trace.what, todo: trace.todo });
    }
  }
  for (const [trace, count] of counts)
    if (count > MOST_OF_A_KIND) plan.notes.push(`${count - MOST_OF_A_KIND} more lines: ${trace.what}.`);
}

function tracesIn(file: string): [Trace, line: number][] {
  const name = basename(file);
  const traces = TRACES.filter(({ files }) => files.test(name));
  if (statSync(file).size > LARGEST) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return traces.flatMap((trace): [Trace, number][] => {
    // Of a whole file, its first line.
    const found = lines.flatMap((line, n) => (trace.line.test(line) && !COMMENT.test(line) ? [n + 1] : []));
    return (trace.line === ANY ? found.slice(0, 1) : found).map((line) => [trace, line]);
  });
}
