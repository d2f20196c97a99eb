import fc, { type Arbitrary, type StringConstraints } from 'fast-check';

/** Number of the first surrogate, and of surrogates, which are no characters. */
const [SURROGATE, SURROGATES] = [0xd800, 0x800];
const CHARACTERS = 0x110000 - SURROGATES;

const character = fc.nat(CHARACTERS - 1).map(
  (n) => String.fromCodePoint(n < SURROGATE ? n : n + SURROGATES),
  (text) => {
    const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (code === undefined || text !== String.fromCodePoint(code)) throw new Error('not one character');
    return code < SURROGATE ? code : code - SURROGATES;
  },
);

/** The strings of fast-check's unit `binary`, without its table of a million characters, which takes a second. */
export function anyText(constraints: Omit<StringConstraints, 'unit'> = {}): Arbitrary<string> {
  return fc.string({ ...constraints, unit: character });
}
