import type { MergedOptions } from '../../options/lease-plan.ts';
import { parseHostedOptions } from '../../options/schema/parse.ts';
import { withoutSecrets } from '../../options/without-secrets.ts';

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

function isMarked(value: object): value is { [MERGED]: () => MergedOptions } {
  return MERGED in value;
}
