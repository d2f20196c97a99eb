import type { PlaywrightWorkerOptions } from '@playwright/test';
import type { Suite } from '@playwright/test/reporter';

/** What a run says about tests on browsers of this machine. */

/** The projects of this run that stay on local browsers; null: none does. */
export function localProjects(suite: Suite): string | null {
  const local = suite.suites.flatMap((each) => {
    const use: Partial<PlaywrightWorkerOptions> = each.project()?.use ?? {};
    const { browserName = use.defaultBrowserType ?? 'chromium' } = use;
    const option = 'hosted' in use ? use.hosted : undefined;
    // `--browser=firefox` gives every project another browser.
    const isLocal = option === false || (option !== undefined && browserName !== 'chromium');
    const unnamed = browserName === 'chromium' ? 'the default project' : browserName;
    return isLocal ? [each.title || unnamed] : [];
  });
  return local.length > 0 ? `on local browsers: ${local.join(', ')}` : null;
}

/** @param calls that started a browser, such as `chromium.launch() at a.spec.ts:12` */
export function localLaunches(calls: readonly string[]): string {
  const [first = '', ...more] = [...new Set(calls)];
  const others = more.length > 0 ? ` and ${more.length} more` : '';
  return `on a browser of this machine, not a hosted one: ${first}${others}. Use the fixtures \`browser\`, \`context\` or \`page\`, or \`leaseBrowser\`: see "Browsers that your code starts" in docs/getting-started.md`;
}
