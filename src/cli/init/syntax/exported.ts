import type { Expression, ObjectLiteral, Parsed, Statement } from './parse.ts';
import { type Node, walk } from './walk.ts';

/** What a config file exports, as far as its text tells. */
export type Exported =
  /** `export default …`, `module.exports = …`, `exports.default = …` or `export = …`. */
  | { kind: 'expression'; expression: Expression; statement: Statement }
  /** `export { name as default }`, with nothing else in it. */
  | { kind: 'name'; local: string; statement: Statement }
  /** `export { default } from 'module'`, with nothing else in it. */
  | { kind: 'module'; from: string; name: string; statement: Statement }
  /** None of these, or more than one: `why` ends a sentence that begins with the file's name. */
  | { kind: 'unknown'; why: string };

/** Finds what a file exports as its config. */
export function exportedOf({ program }: Parsed): Exported {
  const [first, ...more] = program.body.flatMap((statement) => {
    const found = ofStatement(statement);
    return found ? [found] : [];
  });
  if (!first) {
    return { kind: 'unknown', why: nested(program) ?? 'has no default export and no `module.exports`' };
  }
  if (more.length > 0) return { kind: 'unknown', why: 'exports a config in more than one place' };
  // What stands in a branch comes on top of it.
  const why = nested(program);
  return why !== undefined ? { kind: 'unknown', why } : first;
}

function ofStatement(statement: Statement): Exported | undefined {
  switch (statement.type) {
    case 'ExportDefaultDeclaration': {
      const { declaration } = statement;
      if (/Declaration$/.test(declaration.type)) return { kind: 'unknown', why: 'exports a function or a class' };
      return { kind: 'expression', expression: declaration as Expression, statement };
    }
    case 'TSExportAssignment':
      return { kind: 'expression', expression: statement.expression, statement };
    case 'ExpressionStatement': {
      const { expression } = statement;
      if (expression.type !== 'AssignmentExpression' || !isExports(expression.left)) return undefined;
      return { kind: 'expression', expression: expression.right, statement };
    }
    case 'ExportNamedDeclaration':
      return ofSpecifiers(statement);
    default:
      return undefined;
  }
}

function ofSpecifiers(statement: Extract<Statement, { type: 'ExportNamedDeclaration' }>): Exported | undefined {
  const { specifiers, source } = statement;
  for (const each of specifiers) {
    if (each.type !== 'ExportSpecifier') continue;
    const exported = each.exported.type === 'Identifier' ? each.exported.name : each.exported.value;
    if (exported !== 'default') continue;
    if (specifiers.length > 1) return { kind: 'unknown', why: 'exports its config together with other names' };
    const name = each.local.name;
    return source ? { kind: 'module', from: source.value, name, statement } : { kind: 'name', local: name, statement };
  }
  return undefined;
}

/** `module.exports`, `module.exports.default` or `exports.default`. */
function isExports(left: Node): boolean {
  const path = pathOf(left);
  return path === 'module.exports' || path === 'module.exports.default' || path === 'exports.default';
}

/** `a.b.c` of a member expression; undefined for anything else. */
function pathOf(node: Node): string | undefined {
  const each = node as Expression;
  if (each.type === 'Identifier') return each.name;
  if (each.type !== 'MemberExpression' || each.computed || each.property.type !== 'Identifier') return undefined;
  const above = pathOf(each.object);
  return above && `${above}.${each.property.name}`;
}

/** Whether the exports are also written to where the first look does not find it. */
function nested(program: Parsed['program']): string | undefined {
  let why: string | undefined;
  const atTop = new Set<Node>(
    program.body.flatMap((each) => (each.type === 'ExpressionStatement' ? [each.expression] : [])),
  );
  walk(program, (node) => {
    if (node.type !== 'AssignmentExpression') return;
    const { left } = node as Extract<Expression, { type: 'AssignmentExpression' }>;
    if (isExports(left) && !atTop.has(node) && !isInChain(node, atTop)) why = 'exports its config inside of other code';
    if (/^module\.exports\.(?!default$)/.test(pathOf(left) ?? '')) why = 'changes `module.exports` part by part';
    return;
  });
  return why;
}

/** `module.exports = exports.default = config`: one export under two names. */
function isInChain(node: Node, statements: Set<Node>): boolean {
  for (const outer of statements) {
    let each = outer as Expression;
    while (each.type === 'AssignmentExpression') {
      if (each === node) return true;
      each = each.right;
    }
  }
  return false;
}

/** An expression without the types and parentheses around it. `as const` stays: it is allowed on literals alone. */
export function bare(expression: Expression): Expression {
  switch (expression.type) {
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
    case 'TSTypeAssertion':
      return isConst(expression.typeAnnotation) ? expression : bare(expression.expression);
    case 'TSNonNullExpression':
      return bare(expression.expression);
    case 'ParenthesizedExpression':
      return expression.expression.type === 'SequenceExpression' ? expression : bare(expression.expression);
    default:
      return expression;
  }
}

function isConst(type: Node): boolean {
  const { typeName } = type as { typeName?: { name?: string } };
  return type.type === 'TSTypeReference' && typeName?.name === 'const';
}

/** What a name is set to at the top level of a file, by `const`, `let` or `var`. */
export function initialValue({ program }: Parsed, name: string): Expression | undefined {
  for (const each of program.body) {
    const statement = each.type === 'ExportNamedDeclaration' && each.declaration ? each.declaration : each;
    if (statement.type !== 'VariableDeclaration') continue;
    for (const { id, init } of statement.declarations)
      if (id.type === 'Identifier' && id.name === name && init) return init;
  }
  return undefined;
}

/** The object literal behind an export: itself, in a variable, or the one argument of a call such as `defineConfig`. */
export function exportedObject(source: Parsed): ObjectLiteral | undefined {
  const exported = exportedOf(source);
  if (exported.kind === 'name') return literalOf(source, initialValue(source, exported.local));
  return exported.kind === 'expression' ? literalOf(source, exported.expression) : undefined;
}

function literalOf(source: Parsed, expression: Expression | undefined): ObjectLiteral | undefined {
  if (!expression) return undefined;
  const inner = bare(expression);
  if (inner.type === 'ObjectExpression') return inner;
  if (inner.type === 'Identifier') {
    const value = initialValue(source, inner.name);
    return value && bare(value).type !== 'Identifier' ? literalOf(source, value) : undefined;
  }
  if (inner.type !== 'CallExpression' || inner.arguments.length !== 1) return undefined;
  const [argument] = inner.arguments;
  return argument?.type === 'ObjectExpression' ? argument : undefined;
}
