import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@playwright/test';
import * as v from 'valibot';
import { parse } from 'yaml';

/** GitHub shows nothing of a form that breaks these rules (its "Syntax for issue forms"). */

const directory = resolve(import.meta.dirname, '../../.github/ISSUE_TEMPLATE');
const label = v.pipe(v.string(), v.minLength(1), v.maxLength(80));
const common = {
  id: v.optional(v.pipe(v.string(), v.regex(/^[\w-]+$/))),
  validations: v.optional(v.strictObject({ required: v.boolean() })),
};
const text = {
  label,
  description: v.optional(v.string()),
  placeholder: v.optional(v.string()),
  value: v.optional(v.string()),
};
const element = v.variant('type', [
  v.strictObject({ type: v.literal('markdown'), attributes: v.strictObject({ value: v.string() }) }),
  v.strictObject({
    type: v.literal('textarea'),
    attributes: v.strictObject({ ...text, render: v.optional(v.string()) }),
    ...common,
  }),
  v.strictObject({ type: v.literal('input'), attributes: v.strictObject(text), ...common }),
  v.strictObject({
    type: v.literal('dropdown'),
    attributes: v.strictObject({
      label,
      description: v.optional(v.string()),
      multiple: v.optional(v.boolean()),
      options: v.pipe(v.array(v.string()), v.minLength(1)),
    }),
    ...common,
  }),
]);
const form = v.strictObject({
  name: label,
  description: v.pipe(v.string(), v.maxLength(200)),
  title: v.optional(v.string()),
  labels: v.optional(v.array(v.string())),
  body: v.array(element),
});

const forms = readdirSync(directory).filter((name) => name !== 'config.yml');

for (const name of forms) {
  test(`${name} is a form that GitHub shows`, () => {
    const { body } = v.parse(
      form,
      parse(readFileSync(join(directory, name), 'utf8'), { strict: true, uniqueKeys: true }),
    );
    const fields = body.filter(({ type }) => type !== 'markdown');
    expect(fields.length).toBeGreaterThan(0);
    const ids = fields.map((field) => ('id' in field ? field.id : undefined));
    expect(new Set(ids).size).toBe(ids.length);
  });
}

test('a bug report requires the output of doctor', () => {
  const { body } = v.parse(form, parse(readFileSync(join(directory, 'bug.yml'), 'utf8')));
  const doctor = body.find((field) => 'id' in field && field.id === 'doctor');
  expect(doctor).toMatchObject({
    attributes: { label: 'npx poolwright doctor --json', render: 'json' },
    validations: { required: true },
  });
});
