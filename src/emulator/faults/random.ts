/** Numbers in [0, 1), the same ones for the same seed and purpose (mulberry32 on a hash of both). */
export function seededRandom(seed: number, purpose: string): () => number {
  let state = seed >>> 0;
  for (const char of purpose) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
