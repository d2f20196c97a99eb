import type { PlaywrightWorkerOptions } from '@playwright/test';
import type { Suite } from '@playwright/test/reporter';

/** Notices about tests on browsers of this machine. */

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

/** Why a browser that a test has launched is not a hosted one. */
const IN_TESTS =
  process.platform === 'win32'
    ? 'On Windows, use the fixtures `browser`, `context` or `page`'
    : 'Without `channel`, `executablePath`, `proxy` and `--load-extension`, it would be hosted';

/**
 * @param calls that started a browser, such as `chromium.launch() at a.spec.ts:12`
 * @param hosted how there would be a hosted one; default: in tests and fixtures
 */
export function localLaunches(calls: readonly string[], hosted = IN_TESTS): string {
  const [first = '', ...more] = [...new Set(calls)];
  const others = more.length > 0 ? ` and ${more.length} more` : '';
  return `on a browser of this machine, not a hosted one: ${first}${others}. ${hosted}: see "Browsers that your code starts" in docs/getting-started.md`;
}
