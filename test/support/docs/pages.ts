import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The documentation as its readers use it: pages and their code. */

export const ROOT = resolve(import.meta.dirname, '../../..');

/** A Markdown file of this repository. */
export interface DocsPage {
  /** From the repository's root, with `/`. */
  path: string;
  text: string;
}

/** A block between two fences. */
export interface CodeBlock {
  /** Path from the repository's root. */
  page: string;
  /** Number of its first line, from 1. */
  line: number;
  /** The language after the fence; empty: none. */
  language: string;
  code: string;
  /** The reason in `<!-- no-check: why -->` above it; null: it is checked. */
  unchecked: string | null;
}

const FENCE = /^(\s*)```(\w*)\s*$/;
const NO_CHECK = /^<!-- no-check: (.+) -->$/;

/** The README, every page of `docs/` and of the benchmarks, and the READMEs of examples. */
export function docsPages(): DocsPage[] {
  const directories = ['docs', 'examples', ...directoriesIn('examples'), 'bench', 'bench/results'];
  const paths = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...directories.flatMap(pagesIn)];
  return paths.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

/** All code of a page, in order. */
function blocksOf({ path, text }: DocsPage): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  const lines = text.split('\n');
  for (let n = 0; n < lines.length; n += 1) {
    const [, indent, language] = FENCE.exec(lines[n] ?? '') ?? [];
    if (indent === undefined || language === undefined) continue;
    const from = n + 1;
    const end = lines.findIndex((line, at) => at >= from && line.trim() === '```');
    if (end < 0) throw new Error(`${path}:${n + 1}: a code block without an end`);
    const above = lines.slice(0, n).findLast((line) => line.trim() !== '') ?? '';
    blocks.push({
      page: path,
      line: from + 1,
      language,
      code: lines
        .slice(from, end)
        .map((line) => line.slice(indent.length))
        .join('\n'),
      unchecked: NO_CHECK.exec(above.trim())?.[1] ?? null,
    });
    n = end;
  }
  return blocks;
}

/** All checked blocks in one of these languages. */
export function codeIn(...languages: string[]): CodeBlock[] {
  return docsPages()
    .flatMap(blocksOf)
    .filter(({ language, unchecked }) => languages.includes(language) && unchecked === null);
}

function pagesIn(directory: string): string[] {
  return entries(directory).flatMap((entry) =>
    entry.isFile() && entry.name.endsWith('.md') ? [`${directory}/${entry.name}`] : [],
  );
}

function directoriesIn(directory: string): string[] {
  return entries(directory).flatMap((entry) => (entry.isDirectory() ? [`${directory}/${entry.name}`] : []));
}

function entries(directory: string) {
  return readdirSync(join(ROOT, directory), { withFileTypes: true });
}
