import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { install } from '../../scripts/installed.mjs';
import type { Connects } from '../../src/clients/puppeteer/connection.ts';

/** Versions of Puppeteer that are measured: the oldest one supported, and the newest one of each major version. */
export const VERSIONS = ['22.0.0', '23', '24', '25'];
/** The version that is measured where one is enough. */
export const LATEST = '25';

/** Loads a version; one that is not installed yet is installed for the bench. */
export async function loadPuppeteer(version: string): Promise<Connects> {
  const directory = install(`puppeteer-core-${version}`, [`puppeteer-core@${version}`], 'puppeteer-core');
  // Before version 25, the package also has CommonJS.
  const paths = ['lib/esm/puppeteer/puppeteer-core.js', 'lib/puppeteer/puppeteer-core.js'];
  const path = paths[Number.parseInt(version, 10) < 25 ? 0 : 1] ?? '';
  return (await import(pathToFileURL(join(directory, path)).href)).default;
}
