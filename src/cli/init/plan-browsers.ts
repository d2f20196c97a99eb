import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { distFile } from '../../common/dist-file.ts';
import type { Plan } from './plan.ts';
import { commandFromStart, type Project } from './project.ts';

/** The source of browsers: the service, addresses, or a provider's file. */
export const BROWSERS = ['service', 'addresses', 'provider'] as const;

export type Browsers = (typeof BROWSERS)[number];

const PROVIDER = 'browsers.mjs';
const ADDRESS = 'http://localhost:9222';
const OPTIONS = { addresses: `{ browsers: ['${ADDRESS}'] }`, provider: `{ provider: './${PROVIDER}' }` };
const CONFIGS = ['ts', 'mts', 'mjs', 'js', 'cjs', 'json'].map((ending) => `poolwright.config.${ending}`);

export function namesBrowsers(config: string, browsers: Browsers): boolean {
  const option = { service: /^/, addresses: /\bbrowsers['"]?\s*:/, provider: /\bprovider['"]?\s*:/ };
  return option[browsers].test(config);
}

/** The options that name the user's own browsers, as code; null: the service's browsers, which need none. */
export function optionsOf(browsers: Browsers): string | null {
  return browsers === 'service' ? null : OPTIONS[browsers];
}

/**
 * Plans what the browsers need before a run, and the steps to them; for a provider, its file, which starts Chromium on
 * this machine.
 * @param directory of the config that names the file
 * @returns packages that the project lacks, this one included
 */
export function planBrowsers(plan: Plan, project: Project, browsers: Browsers, directory: string): string[] {
  const doctor = commandFromStart(project, 'execute-local', ['poolwright', 'doctor']);
  const missing = project.dependencies.has('poolwright') ? [] : ['poolwright'];
  if (browsers === 'service') {
    plan.next.push(
      'set POOLWRIGHT_BASE_URL and POOLWRIGHT_API_KEY in the environment (without a key, runs use the emulator on this machine; for your own browsers, run init with --browsers addresses or provider)',
      doctor,
    );
    return missing;
  }
  if (browsers === 'addresses') {
    plan.next.push(
      `start a browser (chromium --headless --remote-debugging-port=9222 --user-data-dir=/tmp/browser), or change the address ${ADDRESS} in the config`,
      `POOLWRIGHT_CDP_URL=${ADDRESS} ${doctor}`,
    );
    return missing;
  }
  const file = join(directory, PROVIDER);
  const here = relative(project.start, file).replaceAll('\\', '/');
  if (existsSync(file)) plan.present.push(`${here}, which is not changed`);
  else plan.write(file, readFileSync(join(distFile('cli.js'), '../../templates', PROVIDER), 'utf8'));
  plan.next.push(
    `set CHROMIUM_PATH, unless \`chromium\` starts one, or change ${here}: docs/services.md has other services`,
    `POOLWRIGHT_PROVIDER=${here} ${doctor}`,
  );
  return missing;
}

/** Plans the options of other runners than Playwright Test, which have a file for them. */
export function planOptionsFile(plan: Plan, { directory }: Project, browsers: Browsers): void {
  const options = optionsOf(browsers);
  if (options === null) return;
  const name = CONFIGS.find((each) => existsSync(join(directory, each))) ?? 'poolwright.config.mjs';
  const file = join(directory, name);
  const text = plan.read(file);
  const textOf = (each: Browsers) => `export default ${optionsOf(each)};\n`;
  if (text !== null && namesBrowsers(text, browsers)) plan.present.push(`${name} names your browsers`);
  // A file that `init` wrote may change to the other kind.
  else if (text === null || BROWSERS.some((each) => text === textOf(each))) plan.write(file, textOf(browsers));
  else plan.byHand.push({ file, why: 'exists', todo: 'Add to its options:', lines: [options] });
}
