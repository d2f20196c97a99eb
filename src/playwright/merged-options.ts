import type { MergedOptions } from '../options/lease-plan.ts';
import { parseHostedOptions } from '../options/parse.ts';

/**
 * `use.hosted` as a fixture gets it: what the wrapper has merged already (marked), or what a user wrote in a config
 * without the wrapper.
 */
const MERGED = Symbol.for('poolwright.merged');

/** Marks options as checked and merged. */
export function markMerged(options: MergedOptions): MergedOptions {
  return Object.defineProperty({ ...options }, MERGED, { value: true });
}

/** @throws OptionsError naming the first wrong key. */
export function asMerged(value: object, where: string): MergedOptions {
  return MERGED in value ? (value as MergedOptions) : parseHostedOptions(value, where);
}
