import { MagicString } from '../libraries.ts';
import { type ObjectLiteral, type Parsed, parse, span, type Unparsed } from '../syntax/parse.ts';
import { addProperty, propertyOf } from '../syntax/properties.ts';
import { eolOf, indentAt } from '../syntax/style.ts';

/** What makes an expression of a JSON text. */
const BEFORE = 'export default ';

/** A JSON text (comments and trailing commas allowed) with its root object, to be edited in place. */
export interface JsonFile {
  source: Parsed;
  root: ObjectLiteral;
  /** What one level is indented by. */
  unit: string;
  edit: MagicString;
  /** The text after the edits. */
  toText(): string;
}

/** Opens a JSON object for edits that leave everything else as it is. */
export function openJson(text: string): JsonFile | Unparsed {
  const source = parse(BEFORE + text, 'json.js');
  if ('why' in source) return source;
  const [statement] = source.program.body;
  if (statement?.type !== 'ExportDefaultDeclaration' || statement.declaration.type !== 'ObjectExpression')
    return { why: 'is not a JSON object' };
  const root = statement.declaration;
  const first = root.properties[0];
  const edit = new MagicString(source.text);
  const unit = (first && text.includes('\n') && indentAt(source.text, span(first)[0])) || '  ';
  return { source, root, unit, edit, toText: () => edit.toString().slice(BEFORE.length) };
}

/** Adds `name: value` to an object of the root, which is made where it is missing. */
export function addToSection(
  { source, root, unit, edit }: JsonFile,
  section: string,
  name: string,
  value: string,
): boolean {
  const line = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
  const found = propertyOf(root, section);
  if (!found) {
    const eol = eolOf(source.text);
    const isOneLine = root.properties.length > 0 && !source.text.trimEnd().includes('\n');
    const value = isOneLine ? `{ ${line} }` : `{${eol}${unit}${unit}${line}${eol}${unit}}`;
    addProperty(edit, source, root, `"${section}": ${value}`, unit);
    return true;
  }
  if (found.value.type !== 'ObjectExpression') return false;
  addProperty(edit, source, found.value, line, unit);
  return true;
}
