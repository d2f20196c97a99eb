import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { npm } from './package/pack.mjs';

/** What scripts install for themselves, below node_modules/.cache, where it stays. */
export const INSTALLED = resolve('node_modules', '.cache', 'poolwright-versions');

/** The Node of this major version, from the registry's own package of it. */
export function nodeBinary(major) {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  return join(install(`node-${major}`, [`${name}@${major}`], name), 'bin', 'node');
}

/** Installs packages into a separate directory unless it exists. @returns the directory of the package `inModules` */
export function install(directory, specs, inModules) {
  const place = join(INSTALLED, directory);
  const installed = join(place, 'node_modules', inModules);
  if (!existsSync(installed)) {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'package.json'), '{ "private": true }');
    npm(['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', ...specs], place);
  }
  return installed;
}
