import { createRequire } from 'node:module';
import type { BrowserType } from '@playwright/test';
import { isMissingModule } from '../../common/import-module.ts';
import { OptionsError } from '../../errors.ts';

/** The Playwright that is installed beside this package. */
export interface InstalledPlaywright {
  chromium: BrowserType;
  /** `1.65.1` */
  version: string;
}

/**
 * Loads the installed Playwright.
 * @param instead what to do without one, beside installing it
 * @throws OptionsError `ENVIRONMENT_MISSING` when none is installed
 */
export async function loadPlaywright(instead = ''): Promise<InstalledPlaywright> {
  for (const name of ['playwright-core', 'playwright', '@playwright/test']) {
    try {
      const { chromium } = await import(name);
      return { chromium, version: createRequire(import.meta.url)(`${name}/package.json`).version };
    } catch (error) {
      if (!isMissingModule(error)) throw error;
    }
  }
  throw new OptionsError(
    'chromium',
    `Playwright is not installed. Run \`npm install --save-dev playwright-core\`${instead}.`,
    'ENVIRONMENT_MISSING',
  );
}
