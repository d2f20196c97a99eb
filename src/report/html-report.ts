import { dirname, join, relative, resolve } from 'node:path';
import type { FullConfig } from '@playwright/test/reporter';
import { up as nearestPackage } from 'empathic/package';

/**
 * Address of the run's HTML report, relative to a directory; null if the run creates none. Follows the rules that
 * Playwright documents: environment variable, option, `playwright-report` next to the nearest `package.json`.
 */
export function htmlReportFrom(directory: string, config: FullConfig): string | null {
  const html = config.reporter.find(([name]) => name === 'html');
  if (!html) return null;
  const named = process.env.PLAYWRIGHT_HTML_OUTPUT_DIR || process.env.PLAYWRIGHT_HTML_REPORT;
  const configDirectory = config.configFile ? dirname(config.configFile) : process.cwd();
  const option: unknown = html[1]?.outputFolder;
  const manifest = nearestPackage({ cwd: configDirectory });
  const report = named
    ? resolve(named)
    : typeof option === 'string'
      ? resolve(configDirectory, option)
      : join(manifest ? dirname(manifest) : process.cwd(), 'playwright-report');
  return addressOf(directory, join(report, 'index.html'));
}

/** Address of a file, for a link from a page in a directory. */
export function addressOf(directory: string, file: string): string {
  return relative(directory, file).split(/[\\/]/).map(encodeURIComponent).join('/');
}
