import type { Expression, ObjectLiteral, Parsed, Statement } from './parse.ts';
import { type Node, walk } from './walk.ts';

/** What a statement exports as the config: an expression, or a name. */
type Exported = { expression: Expression } | { local: string };

/**
 * The object literal that a file exports as its config: itself, in a variable, or the one argument of a call such as
 * `defineConfig`. Undefined if the text does not show it.
 */
export function exportedObject(source: Parsed): ObjectLiteral | undefined {
  const { program } = source;
  const [exported, ...more] = program.body.flatMap((statement) => ofStatement(statement) ?? []);
  if (!exported || more.length > 0 || isChangedElsewhere(program)) return undefined;
  const expression = 'local' in exported ? initialValue(source, exported.local) : exported.expression;
  return literalOf(source, expression);
}

function ofStatement(statement: Statement): Exported | undefined {
  switch (statement.type) {
    case 'ExportDefaultDeclaration':
      return { expression: statement.declaration as Expression };
    case 'TSExportAssignment':
      return { expression: statement.expression };
    case 'ExpressionStatement': {
      const { expression } = statement;
      if (expression.type !== 'AssignmentExpression' || !isExports(expression.left)) return undefined;
      return { expression: expression.right };
    }
    case 'ExportNamedDeclaration': {
      const [only, ...others] = statement.specifiers;
      if (only?.type !== 'ExportSpecifier' || others.length > 0 || statement.source) return undefined;
      const exported = only.exported.type === 'Identifier' ? only.exported.name : only.exported.value;
      return exported === 'default' ? { local: only.local.name } : undefined;
    }
    default:
      return undefined;
  }
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

/** Whether the exports are also written inside of other code, or part by part. */
function isChangedElsewhere(program: Parsed['program']): boolean {
  let isChanged = false;
  const atTop = new Set<Node>(
    program.body.flatMap((each) => (each.type === 'ExpressionStatement' ? [each.expression] : [])),
  );
  walk(program, (node) => {
    if (node.type !== 'AssignmentExpression') return;
    const { left } = node as Extract<Expression, { type: 'AssignmentExpression' }>;
    if (isExports(left) && !atTop.has(node)) isChanged = true;
    if (/^module\.exports\.(?!default$)/.test(pathOf(left) ?? '')) isChanged = true;
    return;
  });
  return isChanged;
}

/** An expression without the types and parentheses around it. `as const` stays: it is allowed on literals alone. */
function bare(expression: Expression): Expression {
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
function initialValue({ program }: Parsed, name: string): Expression | undefined {
  for (const each of program.body) {
    const statement = each.type === 'ExportNamedDeclaration' && each.declaration ? each.declaration : each;
    if (statement.type !== 'VariableDeclaration') continue;
    for (const { id, init } of statement.declarations)
      if (id.type === 'Identifier' && id.name === name && init) return init;
  }
  return undefined;
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
