import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Shape } from './shapes.ts';

/** What the shapes import, beside Playwright, which is the real one. */
const NEIGHBOURS: Record<string, string> = {
  'base.ts': `export const baseConfig = { testDir: './shared', retries: 1, use: { locale: 'de-DE' } };
    export default baseConfig;`,
  'base.mjs': 'export const baseConfig = { retries: 1 };',
  'types.ts': 'export type TestOptions = { person: string };',
  'hook.ts': 'export default async () => {};',
  'factory.ts': `export const createPlaywrightConfig = (own: object) => ({ metadata: own, retries: 2 });
    export const mergeConfigs = (...all: object[]) => Object.assign({}, ...all);
    export const withExtras = (config: object) => ({ ...config, metadata: { extras: true } });
    export const defineConfig = ({ appName }: { appName: string }) => ({ name: appName });`,
  'node_modules/dotenv/index.js': 'exports.config = () => {};',
  'node_modules/@nx/devkit/index.js': "exports.workspaceRoot = '/somewhere';",
  'node_modules/@nx/playwright/preset.js':
    "exports.nxE2EPreset = (file, options) => ({ ...options, fullyParallel: file.endsWith('s') });",
  'node_modules/playwright-bdd/index.js': "exports.defineBddConfig = () => '.features';",
  // Counts how often a config is wrapped, and changes nothing else.
  'node_modules/poolwright/index.js':
    'exports.withHostedBrowsers = (config) => ({ ...config, wrapped: (config.wrapped ?? 0) + 1 });',
};

/** Loads a config as Playwright does: by its own loader, which the process of a test has. */
export async function loadConfig(folder: string, { name, type }: Shape, text: string): Promise<unknown> {
  const file = `playwright.config${/\.\w+$/.exec(name)?.[0]}`;
  const files = { ...NEIGHBOURS, 'package.json': JSON.stringify({ type }), [file]: text };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  const path = join(folder, file);
  const isModule = /\.m[jt]s$/.test(file) || (type === 'module' && !/\.c[jt]s$/.test(file));
  const loaded = isModule ? await import(pathToFileURL(path).href) : createRequire(import.meta.url)(path);
  return 'default' in loaded ? loaded.default : loaded;
}

/** What can be compared of a config: two loads of one file have functions of their own. */
export function comparable(value: unknown, folder: string): unknown {
  if (typeof value === 'function' || value instanceof RegExp) return String(value);
  if (typeof value === 'string') return value.replaceAll(folder, '<folder>');
  if (Array.isArray(value)) return value.map((each) => comparable(each, folder));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, comparable(each, folder)]));
}
