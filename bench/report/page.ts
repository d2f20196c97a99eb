import type { Suite } from '../suite.ts';
import type { Entry } from './history.ts';
import type { Machine } from './machine.ts';
import { drawTable } from './table.ts';

/**
 * docs/performance.md: the newest figures of every suite that was measured on this machine.
 * @param readme bench/README.md; its part about what is out of reach ends the page
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
    return entry ? [section(suite, entry)] : [];
  });
  return `# Performance

Made by \`npm run bench -- --write\`; what the sides are and how they are measured is in [bench/README.md](../bench/README.md).

- Machine: ${cores} cores (${processor}), ${memoryGigabytes} GB, ${system}
- Node ${node}, Playwright ${playwright}, ${chromium}

A time is the median of all rounds, with its quartiles beside it. A ratio is the median of the ratios within each round,
1 is equal. The side "local, again" is "local" a second time: what its ratio differs from 1 is the machine's noise.

${sections.join('\n')}
${outOfReach(readme)}`;
}

/** Which goals cannot be reached, and the measured reasons: the last part of bench/README.md. */
export function outOfReach(readme: string): string {
  return readme.slice(readme.indexOf('## What is out of reach'));
}

function section({ name, title, about }: Suite, { commit, at, rounds, seed, tables, goals }: Entry): string {
  const blocks = [
    `## ${title}`,
    about,
    ...tables.map(drawTable),
    ...(goals.length > 0 ? [goals.map(goalLine).join('\n')] : []),
    `\`--suite ${name}\`, commit ${commit}, ${at.slice(0, 10)}, ${rounds} rounds, seed ${seed}`,
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** One goal as a point of a list. */
export function goalLine({ text, isMet }: Entry['goals'][number]): string {
  return `- ${isMet ? 'met' : '**missed**'}: ${text}`;
}
