import { expect, test } from '@playwright/test';
import { resolve, shapeOf } from '../../../scripts/contract/shape.ts';

/** What the service's description may hold beside what ours does. */

test('allows anything inside a schema that refers to itself', () => {
  const names = ['A', 'B', 'C'];
  const fields = Object.fromEntries(
    names.flatMap((name) => [1, 2, 3].map((n) => [`${name}${n}`, { $ref: `#/components/schemas/${name}` }])),
  );
  const one = { type: 'object', properties: { ...fields, name: { type: 'string' } } };
  const document = { components: { schemas: Object.fromEntries(names.map((name) => [name, one])) } };
  const shape = shapeOf({ $ref: '#/components/schemas/A' }, document);
  expect(shape.properties.get('name')?.types).toEqual(new Set(['string']));
  expect(shape.properties.get('B1')?.properties.get('name')?.types).toEqual(new Set(['string']));
  expect(shape.properties.get('A1')?.types).toEqual(new Set());
});

test('follows encoded references, and ignores missing and broken ones', () => {
  const document = { 'a/b': { 'c d': 1 }, '100%': 2 };
  expect(resolve('#/a~1b/c%20d', document)).toBe(1);
  expect(resolve('#/100%25', document)).toBe(2);
  expect(resolve('#/100%', document)).toBeNull();
  expect(resolve('#/a~1b/other/below', document)).toBeNull();
  expect(resolve('https://elsewhere.example/schema.json', document)).toBeNull();
  expect(shapeOf({ $ref: '#/100%' }, document).types).toEqual(new Set());
});
