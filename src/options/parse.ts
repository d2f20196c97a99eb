import type { z } from 'zod';
import { describeIssues } from '../common/validation.ts';
import { OptionsError } from '../errors.ts';
import {
  type HostedOptions,
  hostedOptions,
  type ProjectHostedOptions,
  projectHostedOptions,
  RUN_WIDE_KEYS,
} from './schema.ts';

/**
 * Checks what a user wrote. `where` names the place: `withHostedBrowsers(config, options)`, `projects["de"].use.hosted`.
 * @throws OptionsError with every problem, its path, what came and what was expected.
 */
export function parseHostedOptions(value: unknown, where: string): HostedOptions {
  return check(hostedOptions, value, where);
}

/** The same for one project; options that hold for the whole run are refused with where they belong. */
export function parseProjectOptions(value: unknown, where: string): ProjectHostedOptions {
  if (typeof value === 'object' && value !== null) {
    const misplaced = RUN_WIDE_KEYS.find((key) => key in value);
    if (misplaced) {
      throw new OptionsError(
        misplaced,
        `poolwright: \`${misplaced}\` in ${where} holds for the whole run: set it in the second argument of withHostedBrowsers.`,
      );
    }
  }
  return check(projectHostedOptions, value, where);
}

function check<S extends z.ZodType>(schema: S, value: unknown, where: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = describeIssues(result.error, value, schema);
  const field = result.error.issues[0]?.path.map(String).join('.') ?? '';
  throw new OptionsError(
    field,
    `poolwright: wrong options in ${where}:\n${issues.map((issue) => `  - ${issue}`).join('\n')}`,
  );
}
