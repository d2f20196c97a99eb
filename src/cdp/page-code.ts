import { readFileSync } from 'node:fs';
import { distFile } from '../common/dist-file.ts';

/**
 * Code that runs in pages: the directories `page/` under `src/cdp`. Each entry is built into one file, which calls its
 * exports `page`.
 */
type PageCode = 'page-network.js' | 'page-files.js';

const read = new Map<PageCode, string>();

function codeOf(name: PageCode): string {
  let code = read.get(name);
  if (code === undefined) {
    code = readFileSync(distFile(name), 'utf8');
    read.set(name, code);
  }
  return code;
}

/** A script that calls an entry's export, with a value that JSON can represent. It evaluates to the return value. */
export function pageScript(name: PageCode, exported: string, value?: unknown): string {
  return `(() => {${codeOf(name)}return page.${exported}(${JSON.stringify(value) ?? ''});})()`;
}

/**
 * A function for `Runtime.callFunctionOn` that calls an entry's export with `this` and its arguments. The code is
 * inside an inner function: it may begin with 'use strict', which a function with a rest parameter must not.
 */
export function pageFunction(name: PageCode, exported: string): string {
  return `function (...args) {return (() => {${codeOf(name)}return page.${exported};})()(this, ...args);}`;
}
