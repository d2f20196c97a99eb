import { type Figures, Samples } from './samples.ts';

export interface InterleaveOptions {
  rounds: number;
  seed: number;
  /** Nothing more is measured when it fires. */
  signal: AbortSignal;
  /** Told before each measurement. */
  progress(text: string): void;
}

/**
 * Measures in rounds in which each side has its turn, in an order drawn for each round. Before them comes one round
 * that counts for nothing (caches fill), unless there is one round only: that shows that everything works, and measures
 * nothing.
 * @throws the signal's reason
 */
export async function interleave(
  sides: readonly string[],
  { rounds, seed, signal, progress }: InterleaveOptions,
  measure: (side: string) => Promise<Figures>,
): Promise<Samples> {
  const samples = new Samples();
  const random = numbersFrom(seed);
  // In the order of the table, whichever comes first.
  for (const side of sides) samples.add(side, {});
  for (let round = rounds === 1 ? 1 : 0; round <= rounds; round += 1) {
    for (const side of shuffled(sides, random)) {
      signal.throwIfAborted();
      progress(`${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}: ${side}`);
      const figures = await measure(side);
      if (round > 0) samples.add(side, figures);
    }
  }
  return samples;
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Numbers in [0, 1), the same ones from the same seed (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
