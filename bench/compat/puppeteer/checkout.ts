import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'tsup';
import * as v from 'valibot';

/** Files of Puppeteer's tests that have no meaning for a browser that is only connected to, and why. */
export const LEFT_OUT_FILES: Record<string, string> = {
  'autofill.spec': 'expected to fail in a headless shell',
  'headful.spec': 'needs a head',
  'devtools.spec': 'needs a head',
  'pipe.spec': 'is about pipes',
  'fixtures.spec': 'is about the process that Puppeteer launches',
  'connect.spec': '`browserURL`: poolwright has its own address',
  'extensions.spec': 'installs extensions at launch',
  'webExtension.spec': 'installs extensions over a pipe',
};
/** And single tests. */
const LEFT_OUT_TESTS = [
  /^Launcher specs Puppeteer Puppeteer\.(launch|executablePath) /,
  /^Browser specs Browser\.process should return child_process instance$/,
];

/** What Puppeteer's own list of expectations is asked for. */
const PARAMETERS = new Set(['cdp', 'chrome', 'chrome-headless-shell']);
const expectations = v.array(
  v.object({
    testIdPattern: v.string(),
    platforms: v.array(v.string()),
    parameters: v.array(v.string()),
    expectations: v.array(v.string()),
  }),
);

/** Puppeteer's tests, made ready for Mocha. */
export interface Suite {
  files: string[];
  /** Full titles of tests that are not run, as a regular expression. */
  leftOut: string;
}

/**
 * Compiles the tests and the server of a checkout where they are, as its own build does, and finds out which of them to
 * run: not those that Puppeteer itself skips in a headless shell.
 */
export async function prepareSuite(checkout: string): Promise<Suite> {
  await compile(join(checkout, 'test', 'src'), join(checkout, 'test', 'build'));
  await compile(join(checkout, 'packages', 'testserver', 'src'), join(checkout, 'packages', 'testserver', 'lib'));
  const skipped = skippedTests(checkout);
  const files = readdirSync(join(checkout, 'test', 'build'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.spec.js'))
    .filter((name) => {
      const id = /([^/\\]+)\.js$/.exec(name)?.[1] ?? '';
      return !(id in LEFT_OUT_FILES) && !skipped.some(({ file, title }) => file === id && title === '*');
    });
  const titles = skipped.filter(({ title }) => title !== '*').map(({ title }) => `^${escaped(title)}$`);
  return {
    files: files.sort().map((name) => join(checkout, 'test', 'build', name)),
    leftOut: [...LEFT_OUT_TESTS.map(({ source }) => source), ...titles].join('|'),
  };
}

async function compile(from: string, to: string): Promise<void> {
  await build({
    config: false,
    entry: [join(from, '**', '*.ts')],
    format: ['cjs'],
    target: 'es2022',
    bundle: false,
    sourcemap: true,
    silent: true,
    outDir: to,
    outExtension: () => ({ js: '.js' }),
  });
}

/** The last expectation that fits a test is the one that counts. */
function skippedTests(checkout: string): { file: string; title: string }[] {
  const text = readFileSync(join(checkout, 'test', 'TestExpectations.json'), 'utf8');
  const verdicts = new Map<string, string[]>();
  for (const each of v.parse(expectations, JSON.parse(text))) {
    const fits = each.platforms.includes(process.platform) && each.parameters.every((name) => PARAMETERS.has(name));
    if (fits) verdicts.set(each.testIdPattern, each.expectations);
  }
  return [...verdicts].flatMap(([pattern, verdict]) => {
    const [, file, title] = /^\[(.+?)\] (.*)$/.exec(pattern) ?? [];
    return file && title && verdict.includes('SKIP') ? [{ file, title }] : [];
  });
}

function escaped(title: string): string {
  return title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
