import * as v from 'valibot';
import { OptionsError } from '../../../errors.ts';

const WHERE = 'testEnvironmentOptions.poolwright';

const schema = v.strictObject({
  isolate: v.optional(v.picklist(['file', 'test']), 'file'),
  lease: v.optional(v.picklist(['auto', 'always']), 'auto'),
});

/** `testEnvironmentOptions: { poolwright: { … } }`, or in a file `@jest-environment-options {"poolwright": { … }}`. */
export interface EnvironmentOptions {
  /** `'test'`: each test has a context and a page of its own. Default `'file'`: those of a file share them. */
  isolate?: 'file' | 'test';
  /**
   * `'auto'`, the default: a file has a browser unless neither it nor a file that it imports names one of the globals.
   * `'always'`: also where only a package names them.
   */
  lease?: 'auto' | 'always';
}

/** Of Jest's `testEnvironmentOptions`. @throws OptionsError for an unknown key or a wrong value */
export function environmentOptions({ poolwright = {} }: Record<string, unknown>): Required<EnvironmentOptions> {
  const parsed = v.safeParse(schema, poolwright);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const field = [WHERE, ...(issue.path ?? []).map(({ key }) => String(key))].join('.');
  const wrong =
    issue.expected === 'never' ? 'no option of poolwright' : `wrong: expected ${issue.expected}, got ${issue.received}`;
  throw new OptionsError(
    field,
    `\`${field}\` is ${wrong}. There are \`isolate: 'file' | 'test'\` and \`lease: 'auto' | 'always'\`.`,
  );
}
