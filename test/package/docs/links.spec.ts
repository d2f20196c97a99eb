import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from '@playwright/test';
import { type DocsPage, docsPages, ROOT } from '../../support/docs/pages.ts';

const LINK = /!?\[[^\]]*\]\(([^)\s]+)\)/g;
/** In bytes: part of what a reader of the README downloads. */
const LARGEST_PICTURE = 150_000;

test('every link leads to an existing file and heading', () => {
  const problems = docsPages().flatMap((page) => linksOf(page).flatMap((target) => broken(page, target)));
  expect(problems).toEqual([]);
  // The check finds what it must find.
  const page = { path: 'docs/here.md', text: '# Here' };
  expect(broken(page, 'options.md#variables')).toEqual([]);
  expect(broken(page, 'options.md#no-such')).not.toEqual([]);
  expect(broken(page, '../no-such.md')).not.toEqual([]);
});

for (const [directory, linkedFrom] of [
  ['docs', 'README.md'],
  ['bench/results', 'docs/README.md'],
] as const) {
  test(`${directory}/README.md lists every page of ${directory}, and ${linkedFrom} links to it`, () => {
    const index = `${directory}/README.md`;
    const listed = new Set(linkedFiles(pageAt(index)));
    const pages = docsPages().filter(({ path }) => posix.dirname(path) === directory && path !== index);
    expect(pages.length).toBeGreaterThan(5);
    expect(pages.filter(({ path }) => !listed.has(path)).map(({ path }) => path)).toEqual([]);
    expect(linkedFiles(pageAt(linkedFrom))).toContain(index);
  });
}

/** What links of packed pages may lead to although it is not packed; docs/README.md says where these are. */
const ONLY_IN_REPOSITORY = /^(bench|examples|api)\/|^(examples|api|CONTRIBUTING\.md|SECURITY\.md)$/;

test('a link of a packed page leads to a packed file, or to what docs/README.md says is in the repository', () => {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(files).toEqual(expect.arrayContaining(['docs/*.md', 'docs/images', 'README.md']));
  const isPacked = (file: string) => /^docs\/([^/]+\.md|images\/.+)$/.test(file) || files.includes(file);
  const packed = docsPages().filter(({ path }) => isPacked(path));
  expect(packed.length).toBeGreaterThan(15);
  const lost = packed.flatMap((page) =>
    linkedFiles(page)
      .filter((file) => !isPacked(file) && !ONLY_IN_REPOSITORY.test(file))
      .map((file) => `${page.path}: ${file}`),
  );
  expect(lost).toEqual([]);
  expect(pageAt('docs/README.md').text).toContain('are in the repository, not in the npm package');
});

test('headings are unique within a page, and pictures are small', () => {
  for (const page of docsPages()) expect(new Set(anchorsOf(page)).size, page.path).toBe(anchorsOf(page).length);
  for (const picture of ['timeline', 'watch'])
    expect(statSync(join(ROOT, `docs/images/${picture}.png`)).size).toBeLessThan(LARGEST_PICTURE);
});

function linksOf({ text }: DocsPage): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(LINK)].map(([, target = '']) => target).filter((target) => !/^[a-z]+:/.test(target));
}

/** The files that a page links to, from the repository's root. */
function linkedFiles(page: DocsPage): string[] {
  const paths = linksOf(page).map((target) => target.replace(/#.*/, ''));
  return paths.filter((path) => path !== '').map((path) => posix.join(posix.dirname(page.path), path));
}

function pageAt(path: string): DocsPage {
  const page = docsPages().find((each) => each.path === path);
  if (!page) throw new Error(`there is no page ${path}`);
  return page;
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

/** As GitHub names its headings, and the anchors of rows. */
function anchorsOf({ text }: DocsPage): string[] {
  const plain = text.replaceAll(/^```[\s\S]*?^```/gm, '');
  const rows = [...plain.matchAll(/<a id="([\w-]+)"><\/a>/g)].map(([, id = '']) => id);
  const headings = [...plain.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return [...headings, ...rows];
}
