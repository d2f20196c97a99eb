import type { MergedOptions } from '../../options/lease-plan.ts';
import { serviceName } from '../../options/resolve-service.ts';
import { parseHostedOptions } from '../../options/schema/parse.ts';
import type { HostedOptions } from '../../options/schema/schema.ts';
import { withoutSecrets } from '../../options/without-secrets.ts';
import { isLocalRun } from './run-registry.ts';

/**
 * `use.hosted` as a fixture gets it: what the wrapper has merged already (marked), or what a user wrote in a config
 * without the wrapper.
 */
const MERGED = Symbol.for('poolwright.merged');

/**
 * Marks options as checked and merged. What is seen of them has no secrets: every reporter and global setup can read
 * `use`.
 */
export function markMerged(options: MergedOptions): MergedOptions {
  return Object.defineProperty(withoutSecrets(options), MERGED, { value: () => options });
}

/** @throws OptionsError naming the first wrong key. */
export function asMerged(value: object, where: string): MergedOptions {
  return isMarked(value) ? value[MERGED]() : parseHostedOptions(value, where);
}

/**
 * Whether a project's tests run on Playwright's own browsers: `hosted: false`, or `service: 'local'` by its own options,
 * by the wrapper's, or by the variable.
 * @throws OptionsError for a bad variable
 */
export function isLocal(hosted: HostedOptions | false): boolean {
  if (hosted === false) return true;
  if (isMarked(hosted)) return false;
  if (hosted.service === undefined && isLocalRun() !== null) return isLocalRun() === true;
  return serviceName(hosted, process.env) === 'local';
}

function isMarked(value: object): value is { [MERGED]: () => MergedOptions } {
  return MERGED in value;
}
