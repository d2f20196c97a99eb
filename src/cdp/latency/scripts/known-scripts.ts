import { Script } from 'node:vm';

/** The most scripts to remember. Playwright has two. */
const MAX_SCRIPTS = 4;
/** The script must begin with a line break: text inserted before it then does not change its line numbers. */
const BEGINS_A_LINE = /^\s*\n/;
/** A number that differs between documents is the value of a field: `"frameSeq":3,`. */
const FIELD = /"\w+":$/;
const FIELD_END = /^\s*[,}]/;
/** Its name in the browser's copy. */
const PARAMETER = '__number';
/** Where each world stores them: under a symbol that no other script uses. */
const STORE = "globalThis[Symbol.for('poolwright')]";

/** A script that the client evaluates in each of its isolated worlds, and that returns an object. */
export interface KnownScript {
  /** Its text, or the parts before and after the number that differs. */
  readonly parts: readonly [text: string] | readonly [before: string, after: string];
  /** The description of the object, without its ID. */
  readonly looks: object;
  /** It can be kept in the browser: it is a single expression, which a function can return. */
  readonly isExpression: boolean;
}

/** A script that the client evaluates now. */
export interface FoundScript {
  readonly script: KnownScript;
  /** The number that differs between documents; empty if there is none. */
  readonly number: string;
}

/** The client's scripts that it has evaluated so far. */
export class KnownScripts {
  #list: KnownScript[] = [];

  /** Whether a text may be such a script. */
  static mayBe(text: string): boolean {
    return BEGINS_A_LINE.test(text);
  }

  get all(): readonly KnownScript[] {
    return this.#list;
  }

  find(text: string): FoundScript | null {
    for (const script of this.#list) {
      const number = numberIn(text, script);
      if (number !== null) return { script, number };
    }
    return null;
  }

  /** The client has got an object with this description for an unknown script. */
  add(text: string, looks: object): void {
    if (this.find(text)) return;
    const index = this.#list.findIndex((script) => partsOfBoth(script, text) !== null);
    const known = this.#list[index];
    const parts = (known && partsOfBoth(known, text)) ?? ([text] as const);
    const script = { parts, looks, isExpression: isExpression(parts) };
    if (known) this.#list[index] = script;
    else this.#list.push(script);
    // The client evaluates other scripts than before.
    if (this.#list.length > MAX_SCRIPTS) this.#list = [script];
  }
}

/** The code that stores a script in a world without running it: storing is cheap. */
export function keptText({ parts }: KnownScript, index: number): string {
  return `(${STORE}??={}).script${index}=(${PARAMETER})=>(${expressionOf(parts)}\n)`;
}

/**
 * Calls a script stored in the world; undefined unless all scripts that should be there are: so the results are from
 * this code for either all or none.
 * @param indexes of all that should be there
 */
export function callOf(index: number, number: string, indexes: readonly number[]): string {
  const all = indexes.map((each) => `store.script${each}`).join('&&');
  return `(store=>store&&${all}?store.script${index}(${number}):undefined)(${STORE})`;
}

/**
 * The number in a text that otherwise equals this script; empty if the script has none; null if it is another script.
 */
function numberIn(text: string, { parts: [before, after] }: KnownScript): string | null {
  if (after === undefined) return text === before ? '' : null;
  if (!text.startsWith(before) || !text.endsWith(after)) return null;
  const number = text.slice(before.length, text.length - after.length);
  return /^\d+$/.test(number) ? number : null;
}

/** The parts before and after the one number in which two texts differ; null if they differ in anything else. */
function partsOfBoth({ parts }: KnownScript, text: string): [string, string] | null {
  const [known] = parts;
  if (parts.length > 1 || Math.abs(known.length - text.length) > 10) return null;
  let start = 0;
  while (start < text.length && known[start] === text[start]) start += 1;
  while (/\d/.test(text[start - 1] ?? '')) start -= 1;
  const number = /^\d+/.exec(text.slice(start, start + 20))?.[0];
  if (number === undefined) return null;
  const [before, after] = [text.slice(0, start), text.slice(start + number.length)];
  if (!FIELD.test(before.slice(-50)) || !FIELD_END.test(after)) return null;
  const other = known.slice(start, known.length - after.length);
  return known.endsWith(after) && /^\d+$/.test(other) ? [before, after] : null;
}

function expressionOf(parts: KnownScript['parts']): string {
  return parts.join(PARAMETER).replace(/;\s*$/, '');
}

function isExpression(parts: KnownScript['parts']): boolean {
  try {
    new Script(`(${expressionOf(parts)}\n)`);
    return true;
  } catch {
    return false;
  }
}
