import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { type CodeBlock, codeIn, docsPages, ROOT } from '../../support/docs/pages.ts';
import { commandLine, refusal, unknownPart } from './command-line.ts';
import { commandsOf } from './shell.ts';

/** What the README and docs/ tell a reader to type. */

/** Scripts of the reader's own `package.json`. */
const SCRIPTS_OF_READERS = ['test:hosted'];

function typed(): { where: string; words: string[] }[] {
  return codeIn('sh').flatMap((block: CodeBlock) =>
    commandsOf(block.code).map((words) => ({ where: `${block.page}:${block.line}: ${words.join(' ')}`, words })),
  );
}

test('the command line accepts every `npx poolwright …` of a code block', async () => {
  const program = await commandLine();
  const ours = typed().filter(({ words }) => words[0] === 'npx' && words[1] === 'poolwright');
  expect(ours.length).toBeGreaterThan(20);
  const refused: string[] = [];
  for (const { where, words } of ours) {
    const reason = await refusal(program, words.slice(2));
    if (reason !== null) refused.push(`${where}: ${reason}`);
  }
  expect(refused).toEqual([]);
  // The check finds what it must find.
  expect(await refusal(program, ['swep'])).toMatch(/unknown command/);
  expect(await refusal(program, ['pools', 'create', 'name', '--size', 'many'])).not.toBeNull();
  expect(await refusal(program, ['sweep', '--hard'])).toMatch(/unknown option/);
});

test('every `poolwright …` in a sentence names an existing command and options', async () => {
  const program = await commandLine();
  const mentioned = docsPages().flatMap(({ path, text }) =>
    [...text.matchAll(/`(?:npx )?poolwright ([a-z]+(?=[ `])[^`]*)`/g)].map(([, args = '']) => ({ path, args })),
  );
  expect(mentioned.length).toBeGreaterThan(20);
  const unknown = mentioned.flatMap(({ path, args }) =>
    alternatives(args).flatMap((each) => {
      // What follows `--` is another command.
      const [ours = ''] = each.split(' -- ');
      const part = unknownPart(program, ours.split(/\s+/));
      return part === null ? [] : [`${path}: poolwright ${each}: ${part}`];
    }),
  );
  expect(unknown).toEqual([]);
});

test('hosted browsers are used by the script that init adds, and plain `npx playwright test` by nothing else', () => {
  const typedOnes = typed().filter(({ words }) => words.join(' ').startsWith('npx playwright test'));
  expect(typedOnes.map(({ where }) => where)).toEqual([]);
  const inSentences = docsPages().flatMap(({ path, text }) =>
    [...text.matchAll(/`([^`\n]*npx playwright test[^`\n]*)`/g)].flatMap(([, command]) =>
      command === 'npx playwright test' ? [] : [`${path}: ${command}`],
    ),
  );
  expect(inSentences).toEqual([]);
});

test('every `npm run …`, and every file that `node` runs, exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const problems = typed().flatMap(({ where, words: [command, first = '', second = ''] }) => {
    if (command === 'npm' && first === 'run')
      return second in scripts || SCRIPTS_OF_READERS.includes(second) ? [] : [where];
    if (command === 'node' && /^(scripts|test|bench)\//.test(first))
      return existsSync(join(ROOT, first)) ? [] : [where];
    return [];
  });
  const inSentences = docsPages().flatMap(({ path, text }) =>
    [...text.matchAll(/`npm run ([\w:]+)[^`]*`/g)].flatMap(([whole, name = '']) =>
      name in scripts || SCRIPTS_OF_READERS.includes(name) ? [] : [`${path}: ${whole}`],
    ),
  );
  const scriptsInSentences = docsPages().flatMap(({ path, text }) =>
    [...text.matchAll(/`(?:[A-Z_]+=\S+ )?node ((?:scripts|test|bench)\/[\w./-]+)[^`]*`/g)].flatMap(
      ([whole, file = '']) => (existsSync(join(ROOT, file)) ? [] : [`${path}: ${whole}`]),
    ),
  );
  expect([...problems, ...inSentences, ...scriptsInSentences]).toEqual([]);
});

/** `pools list\|get` in a table is two commands; `report merge <run.json…>` names no file. */
function alternatives(args: string): string[] {
  const [first = '', ...rest] = args.replaceAll('\\|', '|').split(' ');
  const [second = '', ...others] = rest.map((word) => word.replace(/[.,]$/, ''));
  if (!second.includes('|')) return [[first, second, ...others].join(' ').trim()];
  return second.split('|').map((each) => [first, each, ...others].join(' '));
}
