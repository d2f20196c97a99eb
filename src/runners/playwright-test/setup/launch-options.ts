import type { FullConfig } from '@playwright/test';

type Project = Pick<FullConfig['projects'][number], 'name' | 'use'>;

/** Whether a selected hosted project asks for a window: `--headed`, `--debug`, `headless: false`. */
export function asksForWindow(projects: readonly Project[], selected: ReadonlySet<string>): boolean {
  return projects.some(({ name, use }) => {
    if (!selected.has(name) || !('hosted' in use) || use.hosted === false) return false;
    return (use.headless ?? use.launchOptions?.headless) === false;
  });
}

/**
 * Names the launch options that hosted projects set without effect, because a hosted browser is already launched, and
 * `--debug=cli`: Playwright pauses the first context that it sees, which is the hosted browser's own one and not that
 * of the test. Null if there are none.
 * @param args of this process
 */
export function ineffectiveLaunchOptions(projects: readonly Project[], args: readonly string[]): string | null {
  const options = new Set(/ --debug[= ]cli\b/.test(args.join(' ')) ? ['--debug=cli'] : []);
  const names = new Set<string>();
  for (const { name, use } of projects) {
    if (!('hosted' in use) || use.hosted === false) continue;
    const set = launchOptionsOf(use);
    for (const option of set) options.add(option);
    if (set.length > 0 && name !== '') names.add(`"${name}"`);
  }
  if (options.size === 0) return null;
  const where = names.size === 0 ? '' : ` (${[...names].join(', ')})`;
  return `no effect on hosted browsers${where}: ${[...options].join(', ')}. To use Playwright's own browsers, set POOLWRIGHT_SERVICE=local`;
}

function launchOptionsOf({ channel, launchOptions }: Project['use']): string[] {
  // `--headed` has a notice with its own advice.
  const { headless: _headless, ...others } = launchOptions ?? {};
  const named = Object.entries(others).filter(([, value]) => value !== undefined);
  return [...(channel === undefined ? [] : ['channel']), ...named.map(([key]) => `launchOptions.${key}`)];
}
