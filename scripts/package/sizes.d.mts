import type { Entry } from './entries.mjs';

/** Bytes, by what has them. */
type Sizes = Record<string, number>;

export function measure(packed: { size: number; unpackedSize: number }, entries: Entry[]): Promise<Sizes>;
export function overBudget(sizes: Sizes, budget: Sizes): string[];
export function readBudget(): Sizes;
export function budgetFor(sizes: Sizes): string;
