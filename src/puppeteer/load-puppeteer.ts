import { PoolwrightError } from '../errors.ts';
import type { Connects } from './connection.ts';

/** Whichever Puppeteer the user has; `puppeteer-core` first, which is less to load. @throws PoolwrightError */
export async function loadPuppeteer(): Promise<Connects> {
  try {
    return (await import('puppeteer-core')).default;
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  try {
    const name = 'puppeteer'; // hidden from TypeScript: it is not installed here
    return (await import(name)).default;
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new PoolwrightError(
      'ENVIRONMENT_MISSING',
      'Neither puppeteer-core nor puppeteer is installed. Run `npm install --save-dev puppeteer-core`, or pass one: `leaseBrowser({ puppeteer })`.',
    );
  }
}

function isMissing(error: unknown): boolean {
  // The latter in our CommonJS build, which has `require()` for `import()`.
  return error instanceof Error && 'code' in error && /^(ERR_)?MODULE_NOT_FOUND$/.test(String(error.code));
}
