import { createRequire } from 'node:module';
import { distFile } from '../../common/dist-file.ts';
import { OptionsError } from '../../errors.ts';
import { RUN_WIDE_KEYS } from '../defaults.ts';
import type { Checked } from './check.ts';
import type { HostedOptions, ProjectHostedOptions } from './schema.ts';

/**
 * Checks user options. `where` names the place: `withHostedBrowsers(config, options)`,
 * `projects["de"].use.hosted`.
 * @throws OptionsError with every problem: its path, the value and what is expected.
 */
export function parseHostedOptions(value: unknown, where: string): HostedOptions {
  if (isEmpty(value)) return {};
  return optionsOf(loadCheck().checkHostedOptions(value), where);
}

/** The same for one project; options that hold for the whole run are refused with where they belong. */
export function parseProjectOptions(value: unknown, where: string): ProjectHostedOptions {
  if (typeof value === 'object' && value !== null) {
    if ('service' in value && value.service === 'local') {
      throw new OptionsError(
        'service',
        `poolwright: ${where}: for one project, \`service: 'local'\` is \`hosted: false\`.`,
      );
    }
    const misplaced = RUN_WIDE_KEYS.find((key) => key in value);
    if (misplaced) {
      throw new OptionsError(
        misplaced,
        `poolwright: \`${misplaced}\` in ${where} holds for the whole run: set it in the second argument of withHostedBrowsers.`,
      );
    }
  }
  return optionsOf(loadCheck().checkProjectOptions(value), where);
}

/** Most configs set no option: there is nothing to check, and no need to load what checks. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}

function optionsOf<T>(checked: Checked<T>, where: string): T {
  if (checked.ok) return checked.options;
  const problems = checked.problems.map((problem) => `  - ${problem}`).join('\n');
  throw new OptionsError(checked.field, `poolwright: wrong options in ${where}:\n${problems}`);
}

/**
 * Loads `check.ts` when there are options to check: zod takes longer to load than all the rest of `poolwright`, and a
 * worker's options have been checked by its runner. It is a separate file of the build: a config cannot wait for an
 * `import()`, and a bundler would put what is loaded with `require()` next to the caller.
 */
function loadCheck(): typeof import('./check.ts') {
  return createRequire(import.meta.url)(distFile('options.cjs'));
}
