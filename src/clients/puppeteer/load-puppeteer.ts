import { isMissingModule } from '../../common/import-module.ts';
import { OptionsError } from '../../errors.ts';
import type { Connects } from './connection.ts';

/** Loads the user's Puppeteer; `puppeteer-core` first, because it is smaller. @throws PoolwrightError */
export async function loadPuppeteer(): Promise<Connects> {
  try {
    return (await import('puppeteer-core')).default;
  } catch (error) {
    if (!isMissingModule(error)) throw error;
  }
  try {
    const name = 'puppeteer'; // a variable, because TypeScript would report that it is not installed
    return (await import(name)).default;
  } catch (error) {
    if (!isMissingModule(error)) throw error;
    throw new OptionsError(
      'puppeteer',
      'Neither puppeteer-core nor puppeteer is installed. Run `npm install --save-dev puppeteer-core`, or pass one: `leaseBrowser({ puppeteer })`.',
      'ENVIRONMENT_MISSING',
    );
  }
}
