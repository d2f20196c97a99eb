import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const root = resolve(import.meta.dirname, '../../..');
const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

/** Playwright versions that the suites run on, and where each is installed. */
export const PLAYWRIGHTS = {
  oldest: 'test/e2e/playwright-1.48/node_modules/@playwright/test',
  // `node scripts/versions.mjs` replaces it with other versions.
  latest: process.env.TEST_PLAYWRIGHT ?? 'node_modules/@playwright/test',
} as const;
export type PlaywrightVersion = keyof typeof PLAYWRIGHTS;

/** `node scripts/versions.mjs` sets it: the `node_modules` with other versions of runners and of Puppeteer. */
const OTHER_PACKAGES = process.env.TEST_PACKAGES;

/** Returns the path of a runner's file, for a process in a consumer's directory. */
export function runnerFile(path: string): string {
  return OTHER_PACKAGES === undefined ? join(root, 'node_modules', path) : join('node_modules', path);
}

/** The project of a user who has installed poolwright: a separate directory with the files of `npm pack`. */
export interface Consumer {
  directory: string;
  /** Playwright's command line, in this consumer's version. */
  playwrightCli: string;
  /** Writes files, by their path in the directory. */
  write(files: Record<string, string>): Promise<void>;
  read(file: string): Promise<string>;
  remove(): Promise<void>;
}

/** Where the package is unpacked: a directory for each build, with one for each set of packages beside it. */
const UNPACKED = join(root, '.consumers', 'unpacked');

/** Returns the files that npm would pack; asks npm, which takes 1.5 s of processor time, once for each build. */
async function packedFiles(build: string): Promise<string[]> {
  const list = join(UNPACKED, build, 'files.json');
  if (existsSync(list)) return JSON.parse(await readFile(list, 'utf8'));
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
  });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const paths = files.map((file) => file.path);
  await writeFile(`${list}.${process.pid}`, JSON.stringify(paths));
  await rename(`${list}.${process.pid}`, list);
  return paths;
}

/** Distinguishes builds by the names, sizes and modification times of their files. */
async function buildId(): Promise<string> {
  const names = await readdir(join(root, 'dist'));
  const paths = ['package.json', ...names.sort().map((name) => join('dist', name))];
  const stats = await Promise.all(paths.map(async (path) => ({ path, ...(await stat(join(root, path))) })));
  const listed = stats.map(({ path, size, mtimeMs }) => `${path} ${size} ${mtimeMs}`).join('\n');
  return createHash('sha256').update(listed).digest('hex').slice(0, 16);
}

const unpacked = new Map<string, Promise<string>>();

/**
 * Unpacks the package, with the packages beside it, once for all consumers, which link to it. Node resolves imports
 * from the real path of a file, so poolwright finds the consumer's Playwright beside itself.
 * @returns the `node_modules` with all packages
 */
async function unpack(playwright: string, packages: readonly string[]): Promise<string> {
  const build = await buildId();
  const variant = createHash('sha256')
    .update(JSON.stringify([playwright, packages, OTHER_PACKAGES]))
    .digest('hex')
    .slice(0, 16);
  const place = join(UNPACKED, build, variant);
  const modules = join(place, 'node_modules');
  if (existsSync(place)) return modules;
  await mkdir(join(UNPACKED, build), { recursive: true });
  for (const old of await readdir(UNPACKED)) {
    if (old !== build) await rm(join(UNPACKED, old), { recursive: true, force: true });
  }

  const draft = await mkdtemp(join(UNPACKED, build, 'draft-'));
  for (const file of await packedFiles(build)) {
    const target = join(draft, 'node_modules', manifest.name, file);
    await mkdir(dirname(target), { recursive: true });
    await copyFile(join(root, file), target);
  }
  await linkPlaywright(join(draft, 'node_modules'), playwright);
  const copies = OTHER_PACKAGES === undefined ? packages : [''];
  for (const name of copies) {
    const from = join(OTHER_PACKAGES ?? join(root, 'node_modules'), name);
    await cp(from, join(draft, 'node_modules', name), { recursive: true, verbatimSymlinks: true });
  }
  // As npm does it: a package beside poolwright may depend on other versions of its dependencies.
  const own = join(draft, 'node_modules', manifest.name, 'node_modules');
  await mkdir(own);
  for (const name of Object.keys(manifest.dependencies))
    await symlink(join(root, 'node_modules', name), join(own, name), 'junction');
  // Other workers may do the same at the same time: all use the result of the first one.
  await rename(draft, place).catch(async (error: NodeJS.ErrnoException) => {
    if (!existsSync(place)) throw error;
    await rm(draft, { recursive: true });
  });
  return modules;
}

async function linkPlaywright(modules: string, playwright: string): Promise<void> {
  await mkdir(join(modules, '@playwright'), { recursive: true });
  await symlink(playwright, join(modules, '@playwright', 'test'), 'junction');
}

/**
 * Creates a consumer. It is inside the repository, so that poolwright's dependencies resolve as installed; poolwright
 * itself and `@playwright/test` come from the consumer's own `node_modules`.
 * @param packages packages that must be beside poolwright, because it imports them by name
 */
export async function makeConsumer(
  version: PlaywrightVersion,
  type: 'module' | 'commonjs' = 'commonjs',
  packages: readonly string[] = [],
): Promise<Consumer> {
  const playwright = resolve(root, PLAYWRIGHTS[version]);
  const key = [version, ...packages].join();
  const unpacking = unpacked.get(key) ?? unpack(playwright, packages);
  unpacked.set(key, unpacking);
  const shared = await unpacking;
  const directory = await mkdtemp(join(root, '.consumers', `${version}-`));
  const modules = join(directory, 'node_modules');
  await linkPlaywright(modules, playwright);
  const others = OTHER_PACKAGES === undefined ? packages : await readdir(OTHER_PACKAGES);
  for (const name of [manifest.name, ...others]) await symlink(join(shared, name), join(modules, name), 'junction');

  const write = async (files: Record<string, string>) => {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      // Atomically: a file watcher would read an incomplete file, and might miss the rest.
      await writeFile(`${directory}.part`, content);
      await rename(`${directory}.part`, join(directory, path));
    }
  };
  await write({ 'package.json': JSON.stringify({ name: 'consumer', private: true, type }) });
  return {
    directory,
    playwrightCli: join(playwright, 'cli.js'),
    write,
    read: (file) => readFile(join(directory, file), 'utf8'),
    // The broker of a killed runner may still be writing its last record.
    remove: () => rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  };
}
