import { MagicString } from '../libraries.ts';
import { bare, type Exported, exportedOf, initialValue } from '../syntax/exported.ts';
import { addImport, importedNames, isImported, isTaken } from '../syntax/imports.ts';
import { type Expression, type Parsed, parse, type Statement, span } from '../syntax/parse.ts';
import { styleOf } from '../syntax/style.ts';
import { type Node, walk } from '../syntax/walk.ts';

/** What became of a Playwright config. `why` ends a sentence that begins with the file's name. */
export type Wrapped = { result: 'wrapped'; text: string } | { result: 'present' } | { result: 'by hand'; why: string };

const WRAPPER = 'withHostedBrowsers';
const OWN = /^poolwright$/;
const PLAYWRIGHT = /^(@playwright\/test|playwright\/test)$/;
/** Runs of these have browsers of their own kind, or of another vendor: to wrap them as well would break them. */
const OTHERS: [module: RegExp, why: string][] = [
  [/^@playwright\/experimental-ct-/, 'is for component tests, which have not been tried on hosted browsers'],
  [
    /^@azure\/(microsoft-)?playwright(-testing)?$/,
    'gets its browsers from Azure: wrap the config that it extends instead',
  ],
];

/**
 * Wraps what a Playwright config exports in `withHostedBrowsers`, and imports that. Nothing else of the text changes.
 * @param file its name, which decides on the syntax
 */
export function wrapConfig(text: string, file: string): Wrapped {
  const source = parse(text, file);
  if ('why' in source) return { result: 'by hand', why: source.why };
  const imported = importedNames(source);
  if (callsWrapper(source)) return { result: 'present' };
  for (const [module, why] of OTHERS)
    if (imported.some(({ from }) => module.test(from))) return { result: 'by hand', why };

  const exported = exportedOf(source);
  if (exported.kind === 'unknown') return { result: 'by hand', why: exported.why };
  const why = whyNot(source, exported);
  if (why !== undefined) return { result: 'by hand', why };

  const edit = new MagicString(text);
  const known = imported.find(({ from, name }) => OWN.test(from) && name === WRAPPER)?.local;
  if (known === undefined) {
    if (isTaken(source, WRAPPER)) return { result: 'by hand', why: `already has something else called ${WRAPPER}` };
    addImport(edit, source, { name: WRAPPER, from: 'poolwright', beside: PLAYWRIGHT, user: exported.statement });
  }
  wrapExported(edit, source, exported, known ?? WRAPPER);
  return { result: 'wrapped', text: edit.toString() };
}

function callsWrapper(source: Parsed): boolean {
  const imported = importedNames(source);
  let found = false;
  walk(source.program, (node) => {
    const call = node as Expression;
    if (call.type === 'CallExpression' && isImported(call.callee, WRAPPER, OWN, imported)) found = true;
    return !found;
  });
  return found;
}

/** Why an export cannot be wrapped where it stands. */
function whyNot(source: Parsed, exported: Exclude<Exported, { kind: 'unknown' }>): string | undefined {
  if (exported.kind === 'module') return undefined;
  const inner = exported.kind === 'expression' ? bare(exported.expression) : undefined;
  const local = exported.kind === 'name' ? exported.local : inner?.type === 'Identifier' ? inner.name : undefined;
  const value = local === undefined ? inner : initialValue(source, local);
  if (value && /^(Arrow)?Function|^Class|Literal$/.test(bare(value).type)) return 'exports no object that is a config';
  const after = source.program.body.slice(source.program.body.indexOf(exported.statement) + 1);
  if (local !== undefined && after.some((each) => changes(each, local))) return `changes \`${local}\` after its export`;
  return undefined;
}

/** Whether a statement, when it runs, does something with a name. */
function changes(statement: Statement, name: string): boolean {
  if (/^(Import|Export|Function|Class|TS)/.test(statement.type)) return false;
  let found = false;
  walk(statement as Node, (node) => {
    if (node.type === 'Identifier' && (node as { name?: string }).name === name) found = true;
    return !found;
  });
  return found;
}

function wrapExported(
  edit: MagicString,
  source: Parsed,
  exported: Exclude<Exported, { kind: 'unknown' }>,
  wrapper: string,
): void {
  if (exported.kind === 'expression') {
    const { expression, types } = targetOf(source, exported.expression);
    const [start, end] = span(expression);
    edit.appendRight(start, `${wrapper}${types}(`).appendLeft(end, ')');
    return;
  }
  const { eol, quote, end: semicolon } = styleOf(source, exported.statement);
  const [start, end] = span(exported.statement);
  if (exported.kind === 'name') {
    edit.update(start, end, `export default ${wrapper}(${exported.local})${semicolon}`);
    return;
  }
  const local = ['config', 'baseConfig', 'playwrightConfig'].find((name) => !isTaken(source, name)) ?? 'exportedConfig';
  const what = exported.name === 'default' ? local : `{ ${exported.name} as ${local} }`;
  const from = `import ${what} from ${quote}${exported.from}${quote}${semicolon}`;
  edit.update(start, end, `${from}${eol}${eol}export default ${wrapper}(${local})${semicolon}`);
}

/**
 * What to wrap of the exported expression: the one argument of Playwright's `defineConfig`, so that its types know
 * `use.hosted`; anything else as a whole, types around it left where they are. `types` are those of the call, with
 * their brackets: the wrapper needs the same.
 */
function targetOf(source: Parsed, expression: Expression, types = ''): { expression: Expression; types: string } {
  const inner = bare(expression);
  if (inner.type !== 'CallExpression' || types !== '') return { expression: inner, types };
  const [argument, ...more] = inner.arguments;
  const isOne =
    argument && more.length === 0 && argument.type !== 'SpreadElement' && argument.type !== 'ArgumentPlaceholder';
  if (!isOne || !isImported(inner.callee, 'defineConfig', PLAYWRIGHT, importedNames(source))) {
    return { expression: inner, types };
  }
  const given = inner.typeParameters;
  return targetOf(source, argument, given ? source.text.slice(...span(given)) : '');
}
