import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { main } from './playwright.mjs';

/**
 * `node scripts/words.mjs`: finds phrases that readers have to read twice, and comment lines that are too long, in
 * everything that people read: documentation, messages, comments, names of tests, templates, workflows.
 * `--list DIR` prints those that {@link ALLOWED} still allows below a directory; `--write` lowers its numbers.
 */

/** How many findings each directory still has; rewriting a directory lowers its number. */
const ALLOWED = 'scripts/words-allowed.json';

/** Phrases, as regular expressions, and what to write instead. A space stands for any white space. */
const PHRASES = [
  [String.raw`(?<=/\*\* |\* )Answers (?!only)`, 'Returns'],
  ['whatever dies', 'even after a crash'],
  ['holds? on to nothing', 'say what is cleaned up'],
  ['goes over', 'overrides'],
  ['(to|not|be) be had|be had', 'is available, is (not) supported'],
  ['(say|told|says) (it )?twice', 'needs a second flag'],
  ['wants? to (see|be)', 'must cover, needs'],
  ['stands? still', 'freezes'],
  ['feels? nearer|near from far away', 'lower latency, fewer round trips'],
  ['what a run leaves', 'reports'],
  ["than everybody's", 'a different seed'],
  ['holes? in security|security holes?|known holes?', 'vulnerability'],
  ['(is|are|be) told so|told so', 'gets a warning'],
  ['says? so', 'name the message: prints …, fails with …'],
  ['tried on suites of', 'third-party test suites'],
  ['went wrong on the way|(was|were|is|be) mended|mend it', 'found and fixed'],
  ['in mid-', 'mid-test'],
  ['belongs into', 'include it in'],
  ['no places? of (yours|ours)', 'does not count as'],
  ['as without a bridge', 'works as it does locally'],
  ['takes? part', 'is used'],
  ['for nobody|nobody knows', 'unused, untrusted'],
  ['of weight', 'of high severity'],
  ['somebody stopped|before its time', 'was stopped early'],
  ['says nothing about', 'is not a …'],
  ['if it shall|it shall have', 'to …'],
  ['led there', 'requested by'],
  ['do not do for', 'are not enough for'],
  ['makes? no sense', 'is invalid'],
  ['that it has told', 'printed'],
  ['storage and all', 'and storage'],
  ['let(s)? other machines in', 'allow remote connections'],
  ['that stands? by', 'standby'],
  ['what who|who says hello|who asks has', 'name the thing'],
  ["feeder's", 'the caller'],
  ['that is none|that are none', 'name what it is instead'],
  ['nothing is any more', 'events that invalidate …'],
  ['last words', 'final output'],
  ['as moody as|the same lots', 'as unreliable as, the same random choices'],
  ['whoever', 'everyone who, the caller'],
  ['of (its|their|your|our) own', 'its, a separate …'],
  ['as it was', 'unchanged'],
  [String.raw`(?<=/\*\* |\* |// )What of`, 'name it: the fields of, the part of'],
  ['what (came|comes) of', 'the result'],
  ['(is|are) had', 'exists, is known'],
  ['(it is|is it) looked', 'checks, finds'],
  ['failing that', 'otherwise'],
  ['slip of the hand', 'a typing error'],
  ['with itself', 'at once'],
  ['in the way of (?=`)', 'like'],
  ['(be|is|are) nobody', 'no one, unused'],
  ['for good and all|once and for all', 'permanently'],
  ['(a|the) wish(es)? of', 'option, setting'],
  ['(?<!there )(?<!this )is no (?!longer|more|less|later)[a-z]+', 'is not a'],
];
const LONGEST_COMMENT = 120;
const COMMENT = /^\s*(\/\/|\/?\*|#(?!!))/;

const SEARCHED = /\.(md|ts|mts|cts|mjs|cjs|js|yml|yaml|css|html)$|^\.ci\/run$/;
const NOT_SEARCHED = /^(scripts\/words\.mjs|api\/|package-lock\.json|schemas\/)|\/node_modules\//;
const pattern = new RegExp(
  PHRASES.map(([phrase], n) => `(?<p${n}>(?<![\\w-])(?:${phrase.replaceAll(' ', '\\s+')})(?!\\w))`).join('|'),
  'gi',
);

/** What is wrong with a file: `line: what`. */
export function findingsIn(file, text) {
  // A phrase may be broken over two lines of a comment or a paragraph. Offsets stay the same.
  const joined = text.replaceAll(/\n[ \t]*(?:\*(?!\/)|\/\/|#|>)?[ \t]*/g, (line) => ' '.repeat(line.length));
  const lineOf = (offset) => text.slice(0, offset).split('\n').length;
  const phrases = [...joined.matchAll(pattern)].map(({ 0: found, index, groups }) => {
    const n = PHRASES.findIndex((_, at) => groups[`p${at}`] !== undefined);
    return `${file}:${lineOf(index)}: "${found.replaceAll(/\s+/g, ' ')}": ${PHRASES[n][1]}`;
  });
  const long = /\.(md|html|css)$/.test(file)
    ? []
    : text
        .split('\n')
        .flatMap((line, n) =>
          COMMENT.test(line) && line.length > LONGEST_COMMENT
            ? [`${file}:${n + 1}: a comment line of ${line.length} columns`]
            : [],
        );
  return [...phrases, ...long];
}

/** The directory of a file that has a number in `allowed`; of a file elsewhere, nothing. */
function roomOf(file, allowed) {
  return Object.keys(allowed).find((room) => file === room || file.startsWith(`${room}/`));
}

function trackedFiles() {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', args, { encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 }).split('\n');
  return files.filter((file) => SEARCHED.test(file) && !NOT_SEARCHED.test(file) && existsSync(file));
}

if (process.argv[1] === import.meta.filename) await main(run);

function run() {
  const [flag, directory = ''] = process.argv.slice(2);
  const allowed = JSON.parse(readFileSync(ALLOWED, 'utf8'));
  const byRoom = new Map(Object.keys(allowed).map((room) => [room, []]));
  const problems = [];
  for (const file of trackedFiles()) {
    const room = roomOf(file, allowed);
    const found = findingsIn(file, readFileSync(file, 'utf8'));
    if (flag === '--list' && file.startsWith(directory)) console.log(found.join('\n') || `${file}: clean`);
    (byRoom.get(room) ?? problems).push(...found);
  }
  for (const [room, found] of byRoom)
    if (found.length > allowed[room])
      problems.push(...found, `${room}: ${found.length} findings, ${allowed[room]} are allowed`);
  if (flag === '--write') {
    const lowered = [...byRoom].map(([room, found]) => [room, Math.min(found.length, allowed[room])]);
    const kept = Object.fromEntries(lowered.filter(([, count]) => count > 0));
    writeFileSync(ALLOWED, `${JSON.stringify(kept, null, 2)}\n`);
  }
  if (problems.length > 0) console.log(problems.join('\n'));
  return problems.length > 0 ? 1 : 0;
}
