import type { MagicString } from '../libraries.ts';
import { type ObjectLiteral, type Parsed, span } from './parse.ts';
import { eolOf, indentAt } from './style.ts';

type Property = Extract<ObjectLiteral['properties'][number], { type: 'ObjectProperty' }>;

/** The property of an object literal that is written as `name: …` or `'name': …`. */
export function propertyOf(object: ObjectLiteral, name: string): Property | undefined {
  return object.properties.find((each): each is Property => {
    if (each.type !== 'ObjectProperty' || each.computed) return false;
    return each.key.type === 'Identifier' ? each.key.name === name : 'value' in each.key && each.key.value === name;
  });
}

/**
 * Adds a property behind the last one, on a separate line if the others are, with a comma behind it where the
 * last one has one.
 * @param property as it is written: `name: value`
 * @param unit the indentation of one level, for an object without properties
 */
export function addProperty(
  edit: MagicString,
  source: Parsed,
  object: ObjectLiteral,
  property: string,
  unit = '  ',
): void {
  const { text } = source;
  const [start, end] = span(object);
  const eol = eolOf(text);
  const last = object.properties.at(-1);
  if (!last) {
    const inside = text.slice(start + 1, end - 1);
    const indent = indentAt(text, start);
    edit.appendLeft(start + 1, `${eol}${indent}${unit}${property}`);
    // A comment stays where it is, below the property.
    if (inside.trim() !== '') return;
    if (inside !== '') edit.remove(start + 1, end - 1);
    edit.appendRight(end - 1, `${eol}${indent}`);
    return;
  }
  const [lastStart, lastEnd] = span(last);
  const comma = commaAfter(source, lastEnd, end);
  const indent = indentAt(text, lastStart);
  // If the last one begins its line, so do the others.
  const ownLine =
    text.slice(text.lastIndexOf('\n', lastStart - 1) + 1, lastStart).trim() === '' &&
    text.slice(start, lastStart).includes('\n');
  if (!ownLine) {
    if (comma === undefined) edit.appendLeft(lastEnd, `, ${property}`);
    else edit.appendLeft(comma, ` ${property},`);
    return;
  }
  if (comma === undefined) edit.appendLeft(lastEnd, ',');
  const at = lineEndBehind(source, comma ?? lastEnd, end - 1);
  edit.appendLeft(at, `${eol}${indent}${property}${comma === undefined ? '' : ','}`);
}

/** The offset behind the comma that follows an entry; undefined where there is none. */
function commaAfter({ text, comments }: Parsed, from: number, to: number): number | undefined {
  for (let at = from; at < to; at++) {
    const comment = comments.find(({ start, end }) => at >= start && at < end);
    if (comment) at = comment.end - 1;
    else if (text[at] === ',') return at + 1;
  }
  return undefined;
}

/** Behind a comment that ends the line of an entry: it belongs to that entry. */
function lineEndBehind({ text, comments }: Parsed, from: number, to: number): number {
  const lineEnd = /\r?\n/.exec(text.slice(from, to))?.index;
  if (lineEnd === undefined) return from;
  let rest = text.slice(from, from + lineEnd);
  for (const { start, end } of comments) {
    if (start < from || start > from + lineEnd) continue;
    if (end > from + lineEnd) return from;
    rest = rest.replace(text.slice(start, end), '');
  }
  return rest.trim() === '' ? from + lineEnd : from;
}
