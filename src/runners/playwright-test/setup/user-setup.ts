import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FullConfig } from '@playwright/test';
import { up as nearestPackage } from 'empathic/package';
import { importModule } from '../../../common/import-module.ts';
import { OptionsError } from '../../../errors.ts';

/**
 * Runs the user's own global setup, which the wrapper replaced, in the same way as Playwright: in this process, where
 * Playwright's loader compiles TypeScript. Returns its teardown, if it has one.
 */
export async function runUserSetup(path: string | undefined, config: FullConfig): Promise<(() => unknown) | null> {
  if (path === undefined) return null;
  const file = locate(path, dirname(config.configFile ?? join(process.cwd(), 'playwright.config.ts')));
  const loaded: unknown = isModule(file) ? await importModule(pathToFileURL(file)) : createRequire(file)(file);
  const setup = defaultExport(loaded);
  if (typeof setup !== 'function') {
    throw new OptionsError('globalSetup', `${file}: globalSetup file must export a single function.`);
  }
  const teardown: unknown = await setup(config);
  return typeof teardown === 'function' ? () => teardown() : null;
}

/** Resolves a path relative to the config, or a package. */
function locate(path: string, configDir: string): string {
  const local = resolve(configDir, path);
  if (existsSync(local) && extname(local) !== '') return local;
  try {
    return createRequire(join(configDir, 'config.js')).resolve(path);
  } catch {
    const withExtension = ['.ts', '.js', '.mts', '.mjs', '.cts', '.cjs']
      .map((ext) => `${local}${ext}`)
      .find(existsSync);
    return withExtension ?? local;
  }
}

/** Node's rule: by extension, else by the nearest package.json. */
function isModule(file: string): boolean {
  if (/\.m[jt]s$/.test(file)) return true;
  if (/\.c[jt]s$/.test(file)) return false;
  const manifest = nearestPackage({ cwd: dirname(file) });
  return manifest !== undefined && JSON.parse(readFileSync(manifest, 'utf8')).type === 'module';
}

function defaultExport(loaded: unknown): unknown {
  let value = loaded;
  // `import()` of a CommonJS file compiled from TypeScript nests `default` in `default`.
  while (typeof value === 'object' && value !== null && 'default' in value) value = value.default;
  return value;
}
