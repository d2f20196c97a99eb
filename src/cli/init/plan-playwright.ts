import { basename, dirname, extname, join, relative } from 'node:path';
import type { Plan } from './plan.ts';
import { BROWSERS, type Browsers, namesBrowsers, optionsOf } from './plan-browsers.ts';
import { commandFromStart, installedVersion, type Project } from './project.ts';

/** The oldest Playwright that is supported. */
const OLDEST = [1, 48] as const;
/** The extension to import a TypeScript file by, valid under every `moduleResolution`. */
const IMPORTED_AS: Record<string, string> = { '.ts': '.js', '.mts': '.mjs', '.cts': '.cjs' };

/** Browsers that no service has, by their names and those of Playwright's devices that have them. */
const LOCAL = {
  firefox: /['"](firefox|Desktop Firefox\b[^'"]*)['"]/,
  webkit: /['"](webkit['"]|(Desktop Safari|iPhone|iPad|BlackBerry|Blackberry)\b)/,
};

/** The parts of a suite's config that its pipeline depends on. */
export interface PlaywrightSuite {
  /** The config that puts it on hosted browsers, as seen from the package's directory. */
  config: string;
  /** The directory of that config, as seen from the package's, with `/`; empty: the same. */
  beside: string;
  /** Runs it on hosted browsers, as it is typed in the package's directory. */
  command: string;
  /** Whether its config records videos: Playwright writes them with an ffmpeg on the machine that runs the tests. */
  hasVideo: boolean;
  /** The browsers that its config names and that stay local, as Playwright installs them. */
  localBrowsers: string[];
  /** Whether its config sets `outputDir`: then the results are not in `test-results`. */
  hasOutputDir: boolean;
}

/**
 * Plans a Playwright suite: a second config, which wraps the first. The first stays as it is, so that its scripts,
 * editors and pipelines go on using local browsers. A config that calls the wrapper already is used itself.
 */
export function planPlaywright(plan: Plan, project: Project, config: string, browsers: Browsers): PlaywrightSuite {
  const { directory } = project;
  const here = (file: string) => relative(directory, file).replaceAll('\\', '/');
  const text = plan.read(config) ?? '';
  const hosted = isWrapped(text) ? config : hostedConfigOf(config);
  planHosted(plan, hosted, { config: basename(config), name: here(hosted), browsers });
  const version = installedVersion('@playwright/test', directory);
  if (version && isTooOld(version))
    plan.notes.push(`@playwright/test is ${version} here, and poolwright needs ${OLDEST.join('.')} or later.`);
  const components = installedVersion('@playwright/experimental-ct-core', directory);
  if (components && text.includes('@playwright/experimental-ct-') && version !== components)
    plan.notes.push(
      `The component tests have Playwright ${components}, and poolwright needs the same @playwright/test: ${commandFromStart(project, 'add', ['-D', `@playwright/test@${components}`])}`,
    );
  const name = here(hosted);
  const isDefault = name === `playwright.config${extname(name)}`;
  return {
    config: quoted(name),
    beside: name.slice(0, -basename(name).length),
    command: `playwright test${isDefault ? '' : ` -c ${quoted(name)}`}`,
    hasVideo: hasLine(text, /\bvideo['"]?\s*:(?!\s*['"]off['"])/),
    localBrowsers: Object.entries(LOCAL).flatMap(([name, pattern]) => (hasLine(text, pattern) ? name : [])),
    hasOutputDir: hasLine(text, /\boutputDir['"]?\s*:/),
  };
}

function planHosted(
  plan: Plan,
  file: string,
  { config, name, browsers }: { config: string; name: string; browsers: Browsers },
): void {
  const options = optionsOf(browsers);
  const lines = wrapperLines(config, options);
  const written = plan.read(file);
  // A file that `init` wrote for other browsers may change to these.
  const isOfInit = BROWSERS.some((each) => written === textOf(wrapperLines(config, optionsOf(each))));
  const isToChange = options !== null && isOfInit && !namesBrowsers(written ?? '', browsers);
  if (written === null || isToChange) plan.write(file, textOf(lines));
  else if (!isWrapped(written)) {
    const why = 'exists and does not call withHostedBrowsers';
    plan.byHand.push({ file, why, todo: 'Make it export the wrapped config:', lines });
  } else if (options !== null && !namesBrowsers(written, browsers)) {
    const todo = 'Add this to the second argument of withHostedBrowsers:';
    plan.byHand.push({ file, why: 'does not name your own browsers', todo, lines: [options] });
  } else plan.present.push(`${name} calls withHostedBrowsers`);
}

function textOf(lines: string[]): string {
  return `${lines.join('\n')}\n`;
}

/** `playwright.hosted.config.ts` beside `playwright.config.ts`. */
function hostedConfigOf(config: string): string {
  return join(dirname(config), basename(config).replace(/(\.config)?(\.\w+)$/, '.hosted$1$2'));
}

function wrapperLines(config: string, options: string | null): string[] {
  const extension = extname(config);
  const base = `./${basename(config, extension)}${IMPORTED_AS[extension] ?? extension}`;
  const comment = `// Runs the tests of the other config on ${options === null ? 'hosted' : 'your own'} browsers.`;
  const more = options === null ? '' : `, ${options}`;
  if (extension === '.cjs')
    return [
      comment,
      "const { withHostedBrowsers } = require('poolwright');",
      '',
      `module.exports = withHostedBrowsers(require('${base}')${more});`,
    ];
  return [
    comment,
    "import { withHostedBrowsers } from 'poolwright';",
    `import config from '${base}';`,
    '',
    `export default withHostedBrowsers(config${more});`,
  ];
}

function isWrapped(text: string): boolean {
  return hasLine(text, /\bwithHostedBrowsers\s*[(<]/);
}

/** Whether a line that is not a comment matches. */
function hasLine(text: string, pattern: RegExp): boolean {
  return text.split('\n').some((line) => pattern.test(line.replace(/^\s*(\/\/|\*|\/\*).*/, '')));
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

function quoted(path: string): string {
  return path.includes(' ') ? JSON.stringify(path) : path;
}
