import { relative } from 'node:path';
import { styleText } from 'node:util';
import { createTwoFilesPatch } from './libraries.ts';
import type { FileChange, Plan } from './plan.ts';

/** In characters: what a terminal shows as one line. */
const LONG_LINE = 110;
/** How much of a long line is shown before what changes. */
const AROUND = 20;

const HOSTED =
  '  They are hosted in tests and fixtures of Playwright Test, and on this machine elsewhere. See "Browsers that your code starts" in docs/getting-started.md.';

/** The plan as text, with paths relative to `directory`. */
export function planLines(plan: Plan, directory: string, color: boolean): string[] {
  const here = (file: string) => relative(directory, file) || file;
  const lines: string[] = [];
  for (const change of plan.changes)
    lines.push(...legible(diffOf(change, directory).split('\n')).map((line) => (color ? colored(line) : line)));
  for (const line of plan.present) lines.push(`Already there: ${line}.`);
  for (const note of plan.notes) lines.push(`Note: ${note}`);
  if (plan.launches.length > 0) {
    const where = plan.launches.map(({ file, line }) => `${here(file)}:${line}`).join(', ');
    lines.push('', `Browsers that the code starts itself: ${where}`, HOSTED);
  }
  for (const { file, why, todo, lines: wanted } of plan.byHand) {
    lines.push(
      '',
      `To change by hand: ${here(file)} ${why}.`,
      `  ${todo}`,
      '',
      ...wanted.map((line) => `    ${line}`),
      '',
    );
  }
  return lines;
}

/** A diff for people: of a long line that changes, what changes and a little around it; no word about line ends. */
function legible(diff: readonly string[]): string[] {
  const lines = diff.filter((line) => !line.startsWith('\\'));
  const shown = [...lines];
  for (const [index, removed] of lines.entries()) {
    const added = lines[index + 1] ?? '';
    if (!/^-(?!--)/.test(removed) || !/^\+(?!\+\+)/.test(added)) continue;
    if (Math.max(removed.length, added.length) <= LONG_LINE) continue;
    const [before, after] = [[...removed.slice(1)], [...added.slice(1)]];
    const differs = before.findIndex((char, at) => char !== after[at]);
    const start = Math.max(0, (differs === -1 ? before.length : differs) - AROUND);
    shown[index] = cut('-', before, start);
    shown[index + 1] = cut('+', after, start);
  }
  return shown;
}

function cut(sign: '-' | '+', line: string[], start: number): string {
  const end = start + LONG_LINE;
  return `${sign}${start > 0 ? '…' : ''}${line.slice(start, end).join('')}${end < line.length ? '…' : ''}`;
}

export function diffOf({ file, before, after }: FileChange, directory: string): string {
  const name = relative(directory, file).replaceAll('\\', '/');
  return createTwoFilesPatch(
    before === null ? '/dev/null' : `a/${name}`,
    `b/${name}`,
    before ?? '',
    after,
    undefined,
    undefined,
    {
      context: 3,
      stripTrailingCr: true,
      headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
    },
  );
}

function colored(line: string): string {
  if (/^(---|\+\+\+) /.test(line)) return styleText('bold', line);
  if (line.startsWith('@@')) return styleText('cyan', line);
  if (line.startsWith('+')) return styleText('green', line);
  return line.startsWith('-') ? styleText('red', line) : line;
}

/** The same for a program. */
export function planJson(plan: Plan, directory: string, applied: boolean) {
  const here = (file: string) => relative(directory, file).replaceAll('\\', '/');
  return {
    applied,
    changes: plan.changes.map((change) => ({
      file: here(change.file),
      action: change.before === null ? 'create' : 'edit',
      diff: diffOf(change, directory),
    })),
    present: plan.present,
    byHand: plan.byHand.map((each) => ({ ...each, file: here(each.file) })),
    local: plan.launches.map((each) => ({ ...each, file: here(each.file) })),
    notes: plan.notes,
    next: plan.next,
  };
}
