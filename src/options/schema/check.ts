import type * as z from 'zod';
import { describeIssues } from '../../common/validation.ts';
import { type HostedOptions, hostedOptions, type ProjectHostedOptions, projectHostedOptions } from './schema.ts';

/**
 * Checks options by their zod schemas. `parse.ts` loads this with a separate copy of its modules. So it throws
 * nothing: its error classes would differ from the caller's.
 */

/** The checked options, or the first wrong field and one line per problem. */
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
