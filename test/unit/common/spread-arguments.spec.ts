import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from '@babel/parser';
import { expect, test } from '@playwright/test';
import { largest, smallest } from '../../../src/common/numbers/extremes.ts';

const root = resolve(import.meta.dirname, '../../../src');
/** What takes any number of arguments: with more than some 120,000 of them a call overflows the stack. */
const VARIADIC =
  /^(max|min|hypot|push|unshift|splice|append|prepend|replaceChildren|concat|fromCharCode|fromCodePoint|element)$/;
/** Its lists are lines of a config file. */
const SMALL = /^cli\/init\//;

test('never spreads a list of unlimited length into arguments', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const found = files
    .filter((file) => !SMALL.test(file))
    .flatMap((file) => spreadCalls(readFileSync(join(root, file), 'utf8')).map((line) => `${file}:${line}`));
  expect(found).toEqual([]);
});

test('finds the extremes of any number of values', () => {
  const values = Array.from({ length: 200_000 }, (_, n) => n - 100_000);
  expect([largest(values), smallest(values)]).toEqual([99_999, -100_000]);
  expect([largest([], 0), smallest([], 5), largest([1], 3), smallest([1], 0)]).toEqual([0, 5, 3, 0]);
});

/** The part of a syntax tree that the test reads. */
interface Call {
  type: string;
  callee: { type: string; name?: string; property?: { name?: string } };
  arguments: { type: string }[];
  loc: { start: { line: number } };
}

/** Lines of such calls. */
function spreadCalls(source: string): number[] {
  if (!/[(,]\s*\.\.\./.test(source)) return []; // parsing takes longer
  const lines: number[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('type' in node && node.type === 'CallExpression' && isSpread(node as Call)) {
      lines.push((node as Call).loc.start.line);
    }
    for (const [key, inner] of Object.entries(node)) if (key !== 'loc') visit(inner);
  };
  visit(parse(source, { sourceType: 'module', plugins: ['typescript'] }).program);
  return lines;
}

function isSpread({ callee, arguments: given }: Call): boolean {
  const name = callee.name ?? callee.property?.name ?? '';
  return VARIADIC.test(name) && given.some(({ type }) => type === 'SpreadElement');
}
