import type { BrowserType } from '@playwright/test';
import { isMissingModule } from '../../common/import-module.ts';
import { OptionsError } from '../../errors.ts';

/**
 * `chromium` of the installed Playwright.
 * @param instead what to do without one, beside installing it
 * @throws OptionsError `ENVIRONMENT_MISSING` when none is installed
 */
export async function loadChromium(instead: string): Promise<BrowserType> {
  for (const name of ['playwright-core', 'playwright', '@playwright/test']) {
    try {
      return (await import(name)).chromium;
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
