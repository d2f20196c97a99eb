import type * as z from 'zod';
import { describeIssues } from '../../common/validation.ts';
import { type HostedOptions, hostedOptions, type ProjectHostedOptions, projectHostedOptions } from './schema.ts';

/**
 * Checks options by their zod schemas. The build makes a file of its own of this (`options.cjs`, see tsup.config.ts), so
 * it throws nothing: its error classes would be others than the caller's.
 */

/** What was checked, or the first wrong field and every problem in a line of its own. */
export type Checked<T> = { ok: true; options: T } | { ok: false; field: string; problems: string[] };

export function checkHostedOptions(value: unknown): Checked<HostedOptions> {
  return check(hostedOptions, value);
}

export function checkProjectOptions(value: unknown): Checked<ProjectHostedOptions> {
  return check(projectHostedOptions, value);
}

function check<S extends z.ZodType>(schema: S, value: unknown): Checked<z.output<S>> {
  const result = schema.safeParse(value);
  if (result.success) return { ok: true, options: result.data };
  const [issue] = result.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const field = [...(issue?.path ?? []), ...unknown].map(String).join('.');
  return { ok: false, field, problems: describeIssues(result.error, value, schema) };
}
