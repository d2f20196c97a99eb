import { MagicString } from '../libraries.ts';
import type { JsonFile } from '../project/json.ts';
import { exportedObject } from '../syntax/exported.ts';
import { type ObjectLiteral, type Parsed, parse, span } from '../syntax/parse.ts';
import { addEntry, addProperty, hasSpread, propertyOf } from '../syntax/properties.ts';
import { quoteOf } from '../syntax/style.ts';
import type { PuppeteerRunner } from './runners.ts';

/** What became of a runner's config. `why` ends a sentence that begins with the file's name. */
export type Edited = { result: 'edited'; text: string } | { result: 'present' } | { result: 'by hand'; why: string };

interface Target {
  source: Parsed;
  edit: MagicString;
  /** A string as the file writes it. */
  quoted(value: string): string;
  unit: string;
}

/** Adds poolwright's module to a config in JavaScript or TypeScript. */
export function editSource(text: string, file: string, runner: PuppeteerRunner, module: string): Edited {
  const source = parse(text, file);
  if ('why' in source) return { result: 'by hand', why: source.why };
  const object = exportedObject(source);
  if (!object) return { result: 'by hand', why: 'does not export an object literal' };
  const edit = new MagicString(text);
  const quote = quoteOf(text);
  const unit = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  const target = { source, edit, quoted: (value: string) => quote + value + quote, unit };
  const edited = addModule(target, object, runner, module, (key) => key);
  return edited.result === 'edited' ? { result: 'edited', text: edit.toString() } : edited;
}

/** Adds it to a config in JSON: the root, or one of its sections. */
export function editJson(
  { source, edit, unit }: JsonFile,
  object: ObjectLiteral,
  runner: PuppeteerRunner,
  module: string,
): Edited {
  return addModule({ source, edit, unit, quoted: (value) => JSON.stringify(value) }, object, runner, module, (key) =>
    JSON.stringify(key),
  );
}

function addModule(
  target: Target,
  object: ObjectLiteral,
  runner: PuppeteerRunner,
  module: string,
  key: (name: string) => string,
): Edited {
  const shared = ['projects', 'workspace'].find((name) =>
    propertyOf(runner === 'vitest' ? sectionOf(object) : object, name),
  );
  if (shared !== undefined) return { result: 'by hand', why: `has \`${shared}\`, each with its own config` };
  if (runner === 'jest') return addPreset(target, object, module, key);
  if (runner === 'mocha') return addToList(target, object, 'require', module, key);
  const test = propertyOf(object, 'test');
  if (test) {
    if (test.value.type !== 'ObjectExpression')
      return { result: 'by hand', why: 'has a `test` that is not a plain object' };
    return addToList(target, test.value, 'globalSetup', module, key);
  }
  if (hasSpread(object)) return { result: 'by hand', why: 'takes its `test` from elsewhere' };
  addProperty(target.edit, target.source, object, `test: { globalSetup: ${target.quoted(module)} }`, target.unit);
  return { result: 'edited', text: '' };
}

/** Vitest's own part of a config that may be Vite's. */
function sectionOf(object: ObjectLiteral): ObjectLiteral {
  const test = propertyOf(object, 'test')?.value;
  return test?.type === 'ObjectExpression' ? test : object;
}

/** Jest takes one preset. */
function addPreset(
  { source, edit, quoted, unit }: Target,
  object: ObjectLiteral,
  module: string,
  key: (name: string) => string,
): Edited {
  const preset = propertyOf(object, 'preset');
  if (preset?.value.type === 'StringLiteral') {
    const { value } = preset.value;
    return value === module
      ? { result: 'present' }
      : { result: 'by hand', why: `has the preset '${value}', and Jest takes one` };
  }
  if (preset) return { result: 'by hand', why: 'has a `preset` already, and Jest takes one' };
  if (hasSpread(object)) return { result: 'by hand', why: 'takes a part from elsewhere, which may have a preset' };
  addProperty(edit, source, object, `${key('preset')}: ${quoted(module)}`, unit);
  return { result: 'edited', text: '' };
}

/** A property that is one name or a list of them. */
function addToList(
  { source, edit, quoted, unit }: Target,
  object: ObjectLiteral,
  name: string,
  module: string,
  key: (name: string) => string,
): Edited {
  const value = propertyOf(object, name)?.value;
  if (!value) {
    if (hasSpread(object)) return { result: 'by hand', why: `may take a \`${name}\` from somewhere else` };
    addProperty(edit, source, object, `${key(name)}: [${quoted(module)}]`, unit);
    return { result: 'edited', text: '' };
  }
  if (value.type === 'StringLiteral') {
    if (value.value === module) return { result: 'present' };
    edit.appendRight(span(value)[0], '[').appendLeft(span(value)[1], `, ${quoted(module)}]`);
    return { result: 'edited', text: '' };
  }
  if (value.type !== 'ArrayExpression')
    return { result: 'by hand', why: `has a \`${name}\` that is neither a string nor a list` };
  if (value.elements.some((each) => each?.type === 'StringLiteral' && each.value === module))
    return { result: 'present' };
  const entries = value.elements.filter((each) => each !== null);
  addEntry(edit, source, { node: value, entries }, quoted(module), unit);
  return { result: 'edited', text: '' };
}
