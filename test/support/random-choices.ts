/** Random choices: the same seed gives the same choices. */
export interface Choices {
  whole(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
  chance(probability: number): boolean;
}

/** Returns the choices of this seed. */
export function choicesOf(seed: number): Choices {
  const random = mulberry32(seed);
  return {
    whole: (min, max) => min + Math.floor(random() * (max - min + 1)),
    pick: <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T,
    chance: (probability) => random() < probability,
  };
}

/** Numbers in [0, 1), the same for the same seed. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
