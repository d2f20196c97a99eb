import type { MagicString } from '../libraries.ts';
import { type Expression, type Parsed, type Statement, span } from './parse.ts';
import { styleOf } from './style.ts';
import { type Node, walk } from './walk.ts';

/** A name that a file has from another module. */
interface Imported {
  from: string;
  /** What that module calls it; `*` for the whole module. */
  name: string;
  local: string;
}

/** What a file's top level imports or requires. */
export function importedNames({ program }: Parsed): Imported[] {
  return program.body.flatMap((statement): Imported[] => {
    if (statement.type === 'ImportDeclaration') return fromImport(statement);
    if (statement.type === 'TSImportEqualsDeclaration') {
      const { moduleReference: reference, id } = statement;
      if (reference.type !== 'TSExternalModuleReference') return [];
      return [{ from: reference.expression.value, name: '*', local: id.name }];
    }
    return statement.type === 'VariableDeclaration' ? statement.declarations.flatMap(fromRequire) : [];
  });
}

function fromImport({ source, specifiers }: Extract<Statement, { type: 'ImportDeclaration' }>): Imported[] {
  return specifiers.map((each) => {
    if (each.type === 'ImportNamespaceSpecifier') return { from: source.value, name: '*', local: each.local.name };
    if (each.type === 'ImportDefaultSpecifier') return { from: source.value, name: 'default', local: each.local.name };
    const name = each.imported.type === 'Identifier' ? each.imported.name : each.imported.value;
    return { from: source.value, name, local: each.local.name };
  });
}

type Declarator = Extract<Statement, { type: 'VariableDeclaration' }>['declarations'][number];

function fromRequire({ id, init }: Declarator): Imported[] {
  const from = init ? requiredModule(init) : undefined;
  if (from === undefined) return [];
  if (id.type === 'Identifier') return [{ from, name: '*', local: id.name }];
  if (id.type !== 'ObjectPattern') return [];
  return id.properties.flatMap((each) => {
    if (each.type !== 'ObjectProperty' || each.key.type !== 'Identifier' || each.value.type !== 'Identifier') return [];
    return [{ from, name: each.key.name, local: each.value.name }];
  });
}

/** The module of `require('…')`; undefined for anything else. */
function requiredModule(expression: Node): string | undefined {
  const call = expression as Expression;
  if (call.type !== 'CallExpression' || call.callee.type !== 'Identifier' || call.callee.name !== 'require') return;
  const [first] = call.arguments;
  return first?.type === 'StringLiteral' ? first.value : undefined;
}

/** Whether an expression is the name that a module exports: imported, required, or a member of the whole module. */
export function isImported(callee: Node, name: string, from: RegExp, imported: Imported[]): boolean {
  const called = callee as Expression;
  const known = imported.filter((each) => from.test(each.from));
  if (called.type === 'Identifier') return known.some((each) => each.local === called.name && each.name === name);
  if (called.type !== 'MemberExpression' || called.computed) return false;
  const { object, property } = called;
  if (property.type !== 'Identifier' || property.name !== name) return false;
  if (object.type === 'Identifier')
    return known.some((each) => each.local === object.name && ['*', 'default'].includes(each.name));
  return from.test(requiredModule(object) ?? '');
}

/** Whether a name is declared or used anywhere in a file. */
export function isTaken({ program }: Parsed, name: string): boolean {
  let found = false;
  walk(program, (node) => {
    if (node.type === 'Identifier' && (node as { name?: string }).name === name) found = true;
    return !found;
  });
  return found;
}

/** A name, the module that has it, and beside which modules it is imported. */
export interface NewImport {
  name: string;
  from: string;
  beside: RegExp;
  /** What needs it: `require` has to stand above that. */
  user: Statement;
}

/**
 * Adds an import below the last one of `beside`, else below the last one of all, else at the top of the file: by
 * `import` or by `require`, as the file does.
 */
export function addImport(edit: MagicString, source: Parsed, { name, from, beside, user }: NewImport): void {
  const { text, program } = source;
  const isModule = usesModules(source);
  const reach = isModule ? program.body : program.body.slice(0, program.body.indexOf(user));
  const all = reach.filter((each) => importOf(each, isModule) !== undefined);
  const anchor = all.filter((each) => beside.test(importOf(each, isModule) ?? '')).at(-1) ?? all.at(-1);
  const { eol, quote, end } = styleOf(source, anchor);
  const module = `${quote}${from}${quote}`;
  const keyword = anchor?.type === 'VariableDeclaration' ? anchor.kind : 'const';
  const line = isModule ? `import { ${name} } from ${module}` : `${keyword} { ${name} } = require(${module})`;
  if (!anchor) {
    edit.appendLeft(topOf(source), `${line}${end}${eol}${eol}`);
    return;
  }
  const after = span(anchor)[1];
  const lineEnd = text.indexOf('\n', after) < 0 ? text.length : text.indexOf('\n', after);
  const at = text[lineEnd - 1] === '\r' && lineEnd > after ? lineEnd - 1 : lineEnd;
  // Behind what else is on the line, if that is a comment that ends there.
  if (isFree(source, after, at)) edit.appendLeft(at, `${eol}${line}${end}`);
  else edit.appendLeft(after, `${eol}${line};`);
}

/** The module of a top-level import or require statement. */
function importOf(statement: Statement, isModule: boolean): string | undefined {
  if (statement.type === 'ImportDeclaration') return statement.source.value;
  if (isModule || statement.type !== 'VariableDeclaration') return undefined;
  for (const { init } of statement.declarations) {
    const from = init
      ? (requiredModule(init) ?? requiredModule((init as { object?: Node }).object ?? init))
      : undefined;
    if (from !== undefined) return from;
  }
  return undefined;
}

/** Whether a file is written with `import` and `export`. What TypeScript makes CommonJS of still is. */
function usesModules({ program }: Parsed): boolean {
  if (program.body.some(({ type }) => /^(Import|TSImportEquals)/.test(type))) return true;
  let requires = false;
  walk(program, (node) => {
    if (requiredModule(node) !== undefined) requires = true;
    return !requires;
  });
  const exports = program.body.some(({ type }) => /^Export/.test(type));
  return exports && !requires;
}

function isFree({ text, comments }: Parsed, from: number, to: number): boolean {
  let rest = text.slice(from, to);
  for (const { start, end } of comments) {
    if (start >= from && start < to && end > to) return false;
    if (start >= from && end <= to) rest = rest.replace(text.slice(start, end), '');
  }
  return /^[\s;]*$/.test(rest);
}

/** What says something of the whole file has to stay at its top. */
const OF_THE_FILE =
  /@ts-|eslint|biome-|prettier-|oxlint|@jest|@vitest|global\s|@license|@copyright|copyright|@fileoverview/i;

/**
 * Where a new first line goes: below directives, and below the comments that are about the file, not about the first
 * statement.
 */
function topOf({ text, program, comments }: Parsed): number {
  const directive = program.directives.at(-1);
  const interpreter = program.interpreter;
  let at = directive ? lineAfter(text, span(directive)[1]) : interpreter ? lineAfter(text, span(interpreter)[1]) : 0;
  const first = program.body[0] ? span(program.body[0])[0] : text.length;
  for (const { start, end, text: comment } of comments) {
    if (start < at || end > first) continue;
    const isApart = /^[ \t]*\r?\n[ \t]*\r?\n/.test(text.slice(end));
    if (isApart || OF_THE_FILE.test(comment)) at = lineAfter(text, end);
  }
  // Below an empty line that sets the comment apart.
  const gap = /^(?:[ \t]*\r?\n)+/.exec(text.slice(at))?.[0].length ?? 0;
  return at > 0 ? at + gap : at;
}

function lineAfter(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end + 1;
}
