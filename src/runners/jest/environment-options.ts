import * as v from 'valibot';
import { OptionsError } from '../../errors.ts';

const WHERE = 'testEnvironmentOptions.poolwright';

const schema = v.strictObject({
  isolate: v.optional(v.picklist(['file', 'test']), 'file'),
  lease: v.optional(v.picklist(['auto', 'always']), 'auto'),
});

/**
 * `testEnvironmentOptions: { poolwright: { … } }`; in a test file `@jest-environment-options {"poolwright": { … }}`.
 */
export interface EnvironmentOptions {
  /** `'test'`: each test has its own context and page. Default `'file'`: all tests of a file share one. */
  isolate?: 'file' | 'test';
  /**
   * `'auto'`, the default: a file gets a browser if it, or a file that it imports, contains the name of a global.
   * `'always'`: every file gets one. Needed when only a package uses the globals.
   */
  lease?: 'auto' | 'always';
}

/** Parses Jest's `testEnvironmentOptions`. @throws OptionsError for an unknown key or an invalid value */
export function environmentOptions({ poolwright = {} }: Record<string, unknown>): Required<EnvironmentOptions> {
  const parsed = v.safeParse(schema, poolwright);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const field = [WHERE, ...(issue.path ?? []).map(({ key }) => String(key))].join('.');
  const wrong =
    issue.expected === 'never' ? 'an unknown option' : `invalid: expected ${issue.expected}, got ${issue.received}`;
  throw new OptionsError(
    field,
    `\`${field}\` is ${wrong}. The options are \`isolate: 'file' | 'test'\` and \`lease: 'auto' | 'always'\`.`,
  );
}
