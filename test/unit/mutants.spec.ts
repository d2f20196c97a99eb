import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@playwright/test';
import { z } from 'zod';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

const faults = z
  .array(
    z.strictObject({
      name: z.string().regex(/^[a-z\d-]+$/),
      room: z.string(),
      file: z.string(),
      find: z.string(),
      replace: z.string(),
      breaks: z.string().regex(/^[A-Z`].*\.$/),
      foundBy: z.strictObject({ project: z.string(), spec: z.string(), test: z.string() }),
    }),
  )
  .parse(JSON.parse(read('test/mutants/list.json')));

test('every planted fault can be planted, and the test that finds it exists', () => {
  expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length);
  const wrong = faults.filter(({ file, find, replace, foundBy }) => {
    const places = read(file).split(find).length - 1;
    return places !== 1 || find === replace || !read(foundBy.spec).includes(foundBy.test);
  });
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

test('every room of the sources has a planted fault', () => {
  const rooms = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const planted = new Set(faults.map(({ room }) => room.split('/')[0]));
  expect(rooms.filter((room) => !planted.has(room))).toEqual([]);
});
