import { Script } from 'node:vm';

/** So many are kept in mind. Playwright has two. */
const MAX_SCRIPTS = 4;
/** The script must begin with a line of its own: its lines then have the same numbers behind what is put before it. */
const BEGINS_A_LINE = /^\s*\n/;
/** Where each world has what is put there, under a symbol that no other script asks for. */
const STORE = "globalThis[Symbol.for('poolwright')]";
/**
 * Before there is a root element, the scripts would make an event of its coming that they do not make otherwise. All
 * of them find the same, so that their objects are there in their order or not at all.
 */
const ONCE_THERE_IS_A_ROOT = `(${STORE}??={}).root??=!!document.documentElement`;

/** A script that the client evaluates in each world of its own, and gets an object for. */
export interface KnownScript {
  readonly text: string;
  /** What the object looked like, without its ID. */
  readonly looks: object;
  /** It can be kept in the browser: nothing but an expression, which a function can return. */
  readonly isExpression: boolean;
}

/** The client's scripts, in the order in which it evaluates them, as far as it has done so. */
export class KnownScripts {
  #list: KnownScript[] = [];

  /** Whether this may be such a script. */
  static mayBe(text: string): boolean {
    return BEGINS_A_LINE.test(text);
  }

  get all(): readonly KnownScript[] {
    return this.#list;
  }

  /** Its position; -1 for none of them. */
  indexOf(text: string): number {
    return this.#list.findIndex((script) => script.text === text);
  }

  /** Returns whether others than before are evaluated now, so that those of before are forgotten. */
  add(text: string, looks: object): boolean {
    if (this.indexOf(text) >= 0) return false;
    this.#list.push({ text, looks, isExpression: isExpression(text) });
    if (this.#list.length <= MAX_SCRIPTS) return false;
    this.#list = this.#list.slice(-1);
    return true;
  }
}

/** Evaluates a script that the browser has not, if there is a root element. */
export function evaluationOf({ text }: KnownScript): string {
  return `(${ONCE_THERE_IS_A_ROOT})&&${text}`;
}

/** What keeps a script in a document's world, and does nothing else: as it is evaluated only later, it costs little until then. */
export function keptText({ text }: KnownScript, index: number): string {
  return `(${STORE}??={}).script${index}=()=>(${withoutEnd(text)}\n)`;
}

/** Evaluates a script that is kept in the world; undefined where it is not. @param ifRooted only if there is a root element */
export function callOf(index: number, ifRooted: boolean): string {
  const call = `${STORE}?.script${index}?.()`;
  return ifRooted ? `(${ONCE_THERE_IS_A_ROOT})&&${call}` : call;
}

function withoutEnd(text: string): string {
  return text.replace(/;\s*$/, '');
}

function isExpression(text: string): boolean {
  try {
    new Script(`(${withoutEnd(text)}\n)`);
    return true;
  } catch {
    return false;
  }
}
