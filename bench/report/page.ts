import type { Suite } from '../suite.ts';
import type { Entry } from './history.ts';
import type { Machine } from './machine.ts';
import { drawTable } from './table.ts';

/**
 * bench/results/performance.md: the newest figures of every suite that was measured on this machine.
 * @param readme bench/README.md, which has the reasons for missed goals
 */
export function performancePage(
  machine: Machine,
  suites: readonly Suite[],
  entries: ReadonlyMap<string, Entry>,
  readme: string,
): string {
  const { cores, processor, memoryGigabytes, system, node, playwright, chromium } = machine;
  const sections = suites.flatMap((suite) => {
    const entry = entries.get(suite.name);
    return entry ? [section(suite, entry, readme)] : [];
  });
  return `# Performance

Made with \`npm run bench -- --write\`. [bench/README.md](../README.md) explains the sides and the method.

- Machine: ${cores} cores (${processor}), ${memoryGigabytes} GB, ${system}
- Node ${node}, Playwright ${playwright}, ${chromium}

Each time is the median of all rounds, with its quartiles. Each ratio is the median of the ratios within each round; 1 means
equal. "local, again" repeats "local": the difference of its ratio from 1 is the machine's noise.

${sections.join('\n')}`;
}

/** Why a suite misses its goals, from the list in bench/README.md; null if it gives no reason. */
export function reasonOf(readme: string, suite: string): string | null {
  const [, reasons = ''] = readme.split('## Why goals are missed\n');
  const start = `\n- **\`${suite}\`**: `;
  if (!reasons.includes(start)) return null;
  const [, rest = ''] = reasons.split(start);
  const [reason = ''] = rest.split(/\n- |\n\n/);
  return reason.replaceAll(/\n\s+/g, '\n').trim();
}

function section(suite: Suite, { commit, at, rounds, seed, tables, goals }: Entry, readme: string): string {
  const { name, title, about } = suite;
  const reason = goals.some(({ isMet }) => !isMet) ? reasonOf(readme, name) : null;
  const blocks = [
    `## ${title}`,
    about,
    ...tables.map(drawTable),
    ...(goals.length > 0 ? [goals.map(goalLine).join('\n')] : []),
    ...(reason === null ? [] : [`Why: ${reason}`]),
    `\`--suite ${name}\`, commit ${commit}, ${at.slice(0, 10)}, ${rounds} rounds, seed ${seed}`,
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** One goal as a point of a list. */
export function goalLine({ text, isMet }: Entry['goals'][number]): string {
  return `- ${isMet ? 'met' : '**missed**'}: ${text}`;
}
