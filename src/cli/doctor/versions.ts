import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { release } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Chromiums, findChromiums } from '../../emulator/index.ts';
import type { Finding } from './checks.ts';

/** Bound on asking a browser for its version, in ms. */
const ASK_MS = 10_000;

/**
 * What is installed here, for bug reports. Libraries as the tests in the working directory would load them.
 * @param own version of this package
 */
export async function versions(own: string): Promise<Finding> {
  const found = {
    poolwright: own,
    Node: process.versions.node,
    Playwright: installed('@playwright/test', 'playwright', 'playwright-core'),
    Puppeteer: installed('puppeteer-core', 'puppeteer'),
    Chromium: await chromiumVersion(),
    platform: `${process.platform} ${process.arch} ${release()}`,
  };
  const says = Object.entries(found).map(([name, value]) => `${name} ${value ?? 'not installed'}`);
  return { check: 'versions', result: 'ok', says: says.join(', '), versions: found };
}

/** The version of the first of these packages that is installed; null: none is. */
function installed(...names: string[]): string | null {
  const require = createRequire(join(process.cwd(), 'package.json'));
  for (const name of names) {
    try {
      const manifest: { version: string } = require(`${name}/package.json`);
      return manifest.version;
    } catch {
      // The next one may be there.
    }
  }
  return null;
}

/** Of the browser that plain sessions of the emulator run on. On Windows a browser has no `--version`. */
async function chromiumVersion(): Promise<string | null> {
  let found: Chromiums;
  try {
    found = await findChromiums();
  } catch {
    return null;
  }
  const path = (found.shell ?? found.full)?.path;
  if (path === undefined) return null;
  if (process.platform === 'win32') return path;
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: ASK_MS });
    return /\d+(\.\d+)+/.exec(stdout)?.[0] ?? stdout.trim();
  } catch {
    return path;
  }
}
