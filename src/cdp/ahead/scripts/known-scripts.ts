import { Script } from 'node:vm';

/** So many are kept in mind. Playwright has two. */
const MAX_SCRIPTS = 4;
/** The script must begin with a line of its own: its lines then have the same numbers behind what is put before it. */
const BEGINS_A_LINE = /^\s*\n/;
/** A number that differs from document to document is the value of a field: `"frameSeq":3,`. */
const FIELD = /"\w+":$/;
const FIELD_END = /^\s*[,}]/;
/** What it is in the browser's copy. */
const PARAMETER = '__number';
/** Where each world has what is put there, under a symbol that no other script asks for. */
const STORE = "globalThis[Symbol.for('poolwright')]";

/** A script that the client evaluates in each world of its own, and gets an object for. */
export interface KnownScript {
  /** Its text, or what is before and behind the number that differs. */
  readonly parts: readonly [text: string] | readonly [before: string, after: string];
  /** What the object looks like, without its ID. */
  readonly looks: object;
  /** It can be kept in the browser: nothing but an expression, which a function can return. */
  readonly isExpression: boolean;
}

/** A script that the client evaluates now. */
export interface FoundScript {
  readonly script: KnownScript;
  /** The number that differs from document to document; empty where none does. */
  readonly number: string;
}

/** The client's scripts, as far as it has evaluated them. */
export class KnownScripts {
  #list: KnownScript[] = [];

  /** Whether this may be such a script. */
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

  /** The client has got an object that looks like this for a script that was not known. */
  add(text: string, looks: object): void {
    if (this.find(text)) return;
    const index = this.#list.findIndex((script) => partsOfBoth(script, text) !== null);
    const known = this.#list[index];
    const parts = (known && partsOfBoth(known, text)) ?? ([text] as const);
    const script = { parts, looks, isExpression: isExpression(parts) };
    if (known) this.#list[index] = script;
    else this.#list.push(script);
    // Others than before are evaluated now.
    if (this.#list.length > MAX_SCRIPTS) this.#list = [script];
  }
}

/** What keeps a script in a world, and does nothing else: as it is called only later, it costs little until then. */
export function keptText({ parts }: KnownScript, index: number): string {
  return `(${STORE}??={}).script${index}=(${PARAMETER})=>(${expressionOf(parts)}\n)`;
}

/**
 * Calls a script that is kept in the world; undefined, unless all are that should be: so what comes of one of them comes
 * of the others, too.
 * @param indexes of all that should be
 */
export function callOf(index: number, number: string, indexes: readonly number[]): string {
  const all = indexes.map((each) => `store.script${each}`).join('&&');
  return `(store=>store&&${all}?store.script${index}(${number}):undefined)(${STORE})`;
}

/** The number in a text that is this script but for that; empty where none differs; null where it is another script. */
function numberIn(text: string, { parts: [before, after] }: KnownScript): string | null {
  if (after === undefined) return text === before ? '' : null;
  if (!text.startsWith(before) || !text.endsWith(after)) return null;
  const number = text.slice(before.length, text.length - after.length);
  return /^\d+$/.test(number) ? number : null;
}

/** Before and behind the one number in which two texts differ; null where they differ in anything else. */
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
