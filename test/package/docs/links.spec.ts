import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from '@playwright/test';
import { type DocsPage, docsPages, ROOT } from '../../support/docs/pages.ts';

const LINK = /!?\[[^\]]*\]\(([^)\s]+)\)/g;
/** Bytes: what somebody loads to read the README. */
const LARGEST_PICTURE = 150_000;

test('every link leads to a file and a heading that are there', () => {
  const problems = docsPages().flatMap((page) => linksOf(page).flatMap((target) => broken(page, target)));
  expect(problems).toEqual([]);
  // The check sees what it has to see.
  const page = { path: 'docs/here.md', text: '# Here' };
  expect(broken(page, 'options.md#variables')).toEqual([]);
  expect(broken(page, 'options.md#no-such')).not.toEqual([]);
  expect(broken(page, '../no-such.md')).not.toEqual([]);
});

test('every page of docs/ can be reached from its index, and the index from the README', () => {
  const index = docsPages().find(({ path }) => path === 'docs/README.md');
  const listed = new Set(index && linksOf(index).map((target) => posix.join('docs', target.replace(/#.*/, ''))));
  const pages = docsPages().filter(({ path }) => path.startsWith('docs/') && path !== 'docs/README.md');
  expect(pages.filter(({ path }) => !listed.has(path)).map(({ path }) => path)).toEqual([]);
  expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain('(docs/README.md)');
});

test('no page has a heading twice, and pictures are small', () => {
  for (const page of docsPages()) expect(new Set(anchorsOf(page)).size, page.path).toBe(anchorsOf(page).length);
  expect(statSync(join(ROOT, 'docs/images/timeline.png')).size).toBeLessThan(LARGEST_PICTURE);
});

function linksOf({ text }: DocsPage): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(LINK)].map(([, target = '']) => target).filter((target) => !/^[a-z]+:/.test(target));
}

/** What is wrong with a link; nothing when it is right. */
function broken(page: DocsPage, target: string): string[] {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page.path : posix.join(posix.dirname(page.path), path);
  const where = `${page.path}: ${target}`;
  if (path !== '' && !existsSync(join(ROOT, file))) return [`${where}: there is no ${file}`];
  if (anchor === undefined) return [];
  const text = path === '' ? page.text : readFileSync(join(ROOT, file), 'utf8');
  return anchorsOf({ path: file, text }).includes(anchor) ? [] : [`${where}: ${file} has no such heading`];
}

/** As GitHub names its headings. */
function anchorsOf({ text }: DocsPage): string[] {
  return [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
