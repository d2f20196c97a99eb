import { shownOptions } from '../../../common/text/shown-fields.ts';
import type { MergedOptions } from '../../../options/lease-plan.ts';
import { serviceName } from '../../../options/resolve-service.ts';
import { parseHostedOptions } from '../../../options/schema/parse.ts';
import type { HostedOptions } from '../../../options/schema/schema.ts';
import { isLocalRun } from './run-registry.ts';

/**
 * Marks a `use.hosted` that the wrapper has already merged. Without the mark, it is what a user wrote in a config
 * without the wrapper.
 */
const MERGED = Symbol.for('poolwright.merged');

/**
 * Marks options as checked and merged. Every reporter and global setup can read `use`: the visible part has of each
 * field only what `SHOWN_FIELDS` allows.
 */
export function markMerged(options: MergedOptions): MergedOptions {
  return Object.defineProperty(shownOptions(options), MERGED, { value: () => options });
}

/** @throws OptionsError that names the first invalid key */
export function asMerged(value: object, where: string): MergedOptions {
  return isMarked(value) ? value[MERGED]() : parseHostedOptions(value, where);
}

/**
 * Whether a project's tests run on Playwright's own browsers: because of `hosted: false`, or `service: 'local'` in the
 * project's options, in those of the wrapper, or in the environment variable.
 * @throws OptionsError for an invalid variable
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
