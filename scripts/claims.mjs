import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { main } from './playwright.mjs';

/**
 * `node scripts/claims.mjs`: each figure that README and docs claim to have measured stands in its row of
 * bench/results/figures.md, and each row's values stand on its page of evidence. Part of `npm run check`.
 *
 * A block (a paragraph, an item, a row; a whole table if its head has the link) that links to a row may contain only
 * numbers of that row, rounded or not. A block with a figure that looks measured needs such a link.
 *   --stale   lists the rows whose code has changed by more than a tenth since they were measured
 */

const FIGURES = 'bench/results/figures.md';
/** Share of the lines of a row's code. */
const STALE = 0.1;
const COLUMNS = ['Figure', 'Value', 'Goal', 'Commit', 'Date', 'Machine', 'Rounds', 'Command', 'Page', 'Code'];
const ROW_LINK = /\]\([^)\s]*bench\/results\/figures\.md#([\w-]+)\)/g;
/** What is said of measurements only. */
const MEASURED =
  /\d ?×(?! \d)|\d % of the time|\d times as long|\btook \d|\d (?:tests )?pass\b|\b(?:\d{3}|\d[\d,]*,\d{3}) (?:runs|results)\b/;
/** Pages on which figures are explained, not claimed: the method, plans, and what users see in their own reports. */
const EXEMPT = ['docs/architecture.md'];

/** Text without code, link targets and anchors: the numbers in it are claims. */
const prose = (text) =>
  text
    .replaceAll(/`[^`\n]*`/g, '')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/<a id="[^"]*"><\/a>/g, '');

/** Numbers with their digits after the point: `1,054` is one number, `0.995` has three. */
export function numbersIn(text) {
  return [...text.matchAll(/\d[\d,]*(?:\.\d+)?/g)].map(([written]) => {
    const plain = written.replaceAll(',', '');
    return { written, value: Number(plain), digits: plain.split('.')[1]?.length ?? 0 };
  });
}

/** Whether a number is one of these, rounded to its own digits. */
export function isAmong({ value, digits }, numbers) {
  const half = 0.5 * 10 ** -digits;
  return numbers.some(
    (each) => each.value === value || (each.digits > digits && Math.abs(each.value - value) <= half + 1e-9),
  );
}

/** The rows of the page, by their anchor. @throws for a row that lacks a column */
export function rowsOf(text) {
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  const cellsOf = (line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const [head = '', , ...rows] = lines;
  if (cellsOf(head).join() !== COLUMNS.join()) throw new Error(`${FIGURES}: the columns are ${COLUMNS.join(', ')}`);
  return new Map(
    rows.map((line) => {
      const cells = cellsOf(line);
      const [, id] = /<a id="([\w-]+)"><\/a>/.exec(line) ?? [];
      if (id === undefined || cells.length !== COLUMNS.length || cells.includes('')) {
        throw new Error(`${FIGURES}: a row needs <a id="…"></a> and ${COLUMNS.length} columns: ${line.slice(0, 80)}`);
      }
      return [id, { id, ...Object.fromEntries(COLUMNS.map((name, at) => [name, cells[at]])) }];
    }),
  );
}

/** The parts of a page that are judged by themselves. */
export function blocksOf(text) {
  const withoutCode = text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/^ *<!--[\s\S]*?-->/gm, '');
  return withoutCode.split(/\n{2,}|\n(?=\s*(?:[-*]|\d+\.) )/).flatMap((block) => {
    const lines = block.split('\n');
    const isTable = lines.length > 1 && lines.every((line) => line.startsWith('|'));
    return isTable && lines[0].search(ROW_LINK) < 0 ? lines : [block];
  });
}

/** What is wrong with the claims of one page. */
export function problemsOf(path, text, rows) {
  return blocksOf(text).flatMap((block) => {
    const ids = [...block.matchAll(ROW_LINK)].map(([, id]) => id);
    const where = `${path}: "${block.trim().replaceAll(/\s+/g, ' ').slice(0, 90)}"`;
    const unknown = ids.filter((id) => !rows.has(id)).map((id) => `${where}: ${FIGURES} has no row "${id}"`);
    if (ids.length === 0) {
      return MEASURED.test(prose(block)) ? [`${where}: a measured figure needs a link to its row of ${FIGURES}`] : [];
    }
    const cited = ids.flatMap((id) => (rows.has(id) ? [rows.get(id)] : []));
    const known = numbersIn(
      prose(cited.map((row) => `${row.Figure} ${row.Value} ${row.Rounds} ${row.Date}`).join(' ')),
    );
    const wrong = numbersIn(prose(block)).filter((number) => !isAmong(number, known));
    return [...unknown, ...wrong.map(({ written }) => `${where}: ${written} is not in ${ids.join(' or ')}`)];
  });
}

/** Values that do not stand on the row's page of evidence, from which they come. */
function unfounded({ id, Value, Page }) {
  const [, target = ''] = /\]\(([^)#]+)/.exec(Page) ?? [];
  const page = posix.join(dirname(FIGURES), target);
  if (!existsSync(page)) return [`${FIGURES}: "${id}" has no page ${page}`];
  const known = numbersIn(readFileSync(page, 'utf8'));
  return numbersIn(Value)
    .filter((number) => !isAmong(number, known))
    .map(({ written }) => `${FIGURES}: ${written} of "${id}" is not on ${page}`);
}

function claims(rows) {
  const docs = readdirSync('docs').filter((name) => name.endsWith('.md'));
  const pages = ['README.md', ...docs.map((name) => `docs/${name}`)].filter((page) => !EXEMPT.includes(page));
  return [
    ...pages.flatMap((page) => problemsOf(page, readFileSync(page, 'utf8'), rows)),
    ...[...rows.values()].flatMap(unfounded),
  ];
}

function git(args) {
  const { status, stdout, stderr } = spawnSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.trim()}`);
  return stdout;
}

/** How much of the row's code has changed since its oldest commit: changed lines by lines, 0 to 1. */
function changeOf({ Commit, Code }) {
  const paths = Code.split(' ');
  const shares = [...Commit.matchAll(/[\da-f]{7,}/g)].map(([commit]) => {
    const changed = git(['diff', '--numstat', commit, 'HEAD', '--', ...paths])
      .split('\n')
      .flatMap((line) => (/^\d/.test(line) ? [Math.max(...line.split('\t').slice(0, 2).map(Number))] : []));
    return changed.reduce((sum, lines) => sum + lines, 0);
  });
  const lines = git(['ls-files', '--', ...paths])
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(file)))
    .reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length, 0);
  return Math.max(...shares) / Math.max(lines, 1);
}

if (process.argv[1]?.endsWith('claims.mjs')) {
  await main(async () => {
    const rows = rowsOf(readFileSync(FIGURES, 'utf8'));
    if (process.argv.includes('--stale')) {
      const stale = [...rows.values()].map((row) => ({ ...row, change: changeOf(row) }));
      for (const { id, Commit, Code, Command, change } of stale.filter(({ change }) => change > STALE)) {
        console.log(`${id}: ${Math.round(change * 100)} % of ${Code} changed since ${Commit}: ${Command}`);
      }
      return stale.some(({ change }) => change > STALE) ? 1 : 0;
    }
    const problems = claims(rows);
    for (const problem of problems) console.log(problem);
    return problems.length === 0 ? 0 : 1;
  });
}
