import { basename, extname, relative } from 'node:path';
import type { Plan } from '../plan.ts';
import { commandOf, installedVersion, type Project } from '../project/project.ts';
import { addScript } from '../project/script.ts';
import { wrapConfig } from './wrap-config.ts';

/** The oldest Playwright that is supported. */
const OLDEST = [1, 48] as const;

/** Plans a Playwright suite: the config wrapped, and a script that runs it. */
export function planPlaywright(plan: Plan, project: Project, config: string): void {
  const name = relative(project.folder, config).replaceAll('\\', '/');
  const text = plan.read(config) ?? '';
  const wrapped = wrapConfig(text, basename(config));
  if (wrapped.result === 'present') plan.present.push(`${name} calls withHostedBrowsers`);
  else if (wrapped.result === 'wrapped') plan.write(config, wrapped.text);
  else {
    plan.byHand.push({
      file: config,
      why: wrapped.why,
      todo: 'Wrap in it what Playwright gets as the config:',
      lines: instructions(config, text),
    });
  }

  const version = installedVersion('@playwright/test', project.folder);
  if (version && isTooOld(version))
    plan.notes.push(`@playwright/test is ${version} here, and poolwright needs ${OLDEST.join('.')} or later.`);
  const isDefault = name === `playwright.config${extname(name)}`;
  const script = addScript(plan, project, `playwright test${isDefault ? '' : ` -c ${quoted(name)}`}`);
  plan.next.push(
    script === null
      ? commandOf(project.agent, 'execute-local', ['playwright', 'test', ...(isDefault ? [] : ['-c', quoted(name)])])
      : commandOf(project.agent, 'run', [script]),
  );
}

/** The lines to write, in the file's own module system. */
function instructions(config: string, text: string): string[] {
  const isCommonJs = /\.cts$|\.cjs$/.test(config) || (/\bmodule\.exports\b/.test(text) && !/^\s*import\s/m.test(text));
  return isCommonJs
    ? [
        "const { withHostedBrowsers } = require('poolwright');",
        'module.exports = withHostedBrowsers(/* your config */);',
      ]
    : ["import { withHostedBrowsers } from 'poolwright';", 'export default withHostedBrowsers(/* your config */);'];
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

function quoted(path: string): string {
  return path.includes(' ') ? JSON.stringify(path) : path;
}
