import { readFileSync } from 'node:fs';
import { distFile } from '../common/dist-file.ts';

/** What runs in pages: the folders `page/` of this room, each entry built into one file that names what it exports `page`. */
type PageCode = 'page-web-socket.js' | 'page-answers.js' | 'page-files.js';

const read = new Map<PageCode, string>();

function codeOf(name: PageCode): string {
  let code = read.get(name);
  if (code === undefined) {
    code = readFileSync(distFile(name), 'utf8');
    read.set(name, code);
  }
  return code;
}

/** A script that calls what an entry exports, with values that JSON can hold. Its value is what that returns. */
export function pageScript(name: PageCode, exported: string, value: unknown): string {
  return `(() => {${codeOf(name)}return page.${exported}(${JSON.stringify(value)});})()`;
}

/**
 * A function, for `Runtime.callFunctionOn`, that calls what an entry exports with its object and its arguments. The code has a
 * function of its own: it may begin with 'use strict', which a function with a rest parameter must not.
 */
export function pageFunction(name: PageCode, exported: string): string {
  return `function (...args) {return (() => {${codeOf(name)}return page.${exported};})()(this, ...args);}`;
}
