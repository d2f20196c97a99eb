import { dirname, join, relative, resolve } from 'node:path';
import type { FullConfig } from '@playwright/test/reporter';
import { up as nearestPackage } from 'empathic/package';

/**
 * Address of the run's HTML report, seen from a folder; null when the run makes none. Where it lies is decided as
 * Playwright documents it: variable, option, `playwright-report` beside the nearest `package.json`.
 */
export function htmlReportFrom(folder: string, config: FullConfig): string | null {
  const html = config.reporter.find(([name]) => name === 'html');
  if (!html) return null;
  const named = process.env.PLAYWRIGHT_HTML_OUTPUT_DIR || process.env.PLAYWRIGHT_HTML_REPORT;
  const configFolder = config.configFile ? dirname(config.configFile) : process.cwd();
  const option: unknown = html[1]?.outputFolder;
  const manifest = nearestPackage({ cwd: configFolder });
  const report = named
    ? resolve(named)
    : typeof option === 'string'
      ? resolve(configFolder, option)
      : join(manifest ? dirname(manifest) : process.cwd(), 'playwright-report');
  return addressOf(folder, join(report, 'index.html'));
}

/** A file as a link from a page in a folder. */
export function addressOf(folder: string, file: string): string {
  return relative(folder, file).split(/[\\/]/).map(encodeURIComponent).join('/');
}
