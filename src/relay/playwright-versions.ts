import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { minorVersion } from './protocol.ts';

/** The Playwright versions of a relay: directories of `playwright-core`, by major and minor version. */
export type PlaywrightVersions = ReadonlyMap<string, string>;

const manifest = v.object({ name: v.string(), version: v.string() });

/**
 * Finds every `playwright-core` in a directory's `node_modules`. Several versions are installed under different
 * names: `npm install playwright-1.56@npm:playwright-core@1.56`. Of versions that differ in the last part, the one that
 * comes last counts: they speak the same protocol.
 */
export async function findPlaywrights(directory: string): Promise<PlaywrightVersions> {
  // A lease runs in another directory.
  const modules = resolve(directory, 'node_modules');
  const found = new Map<string, string>();
  for (const name of (await readdir(modules).catch(() => [])).sort()) {
    if (!name.startsWith('playwright')) continue;
    const path = join(modules, name);
    const version = await versionOf(path);
    if (version !== null) found.set(version, path);
  }
  return found;
}

async function versionOf(path: string): Promise<string | null> {
  try {
    const { name, version } = v.parse(manifest, JSON.parse(await readFile(join(path, 'package.json'), 'utf8')));
    return name === 'playwright-core' ? minorVersion(version) : null;
  } catch {
    return null;
  }
}
