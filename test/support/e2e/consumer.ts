import { execFile } from 'node:child_process';
import { constants, copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const root = resolve(import.meta.dirname, '../../..');
const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));

/** Playwright versions the suites are run on: where each is installed. */
export const PLAYWRIGHTS = {
  oldest: 'test/e2e/playwright-1.48/node_modules/@playwright/test',
  // `npm run test:versions` puts others in its place.
  latest: process.env.TEST_PLAYWRIGHT ?? 'node_modules/@playwright/test',
} as const;
export type PlaywrightVersion = keyof typeof PLAYWRIGHTS;

/** A project of a user who has installed poolwright: a folder of its own, with the files that `npm pack` would ship. */
export interface Consumer {
  folder: string;
  /** Playwright's command line, for this consumer's version. */
  playwrightCli: string;
  /** Writes files, by their path in the folder. */
  write(files: Record<string, string>): Promise<void>;
  read(file: string): Promise<string>;
  remove(): Promise<void>;
}

/** Which files the package ships, by npm's own word. */
let packed: Promise<string[]> | null = null;
async function packedFiles(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
  });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  return files.map((file) => file.path);
}

/**
 * Makes one. It lies inside the repository, so that poolwright's dependencies resolve as installed; poolwright itself
 * and `@playwright/test` come from its own `node_modules`.
 * @param packages what must lie beside poolwright, because it imports that by its name
 */
export async function makeConsumer(
  version: PlaywrightVersion,
  type: 'module' | 'commonjs' = 'commonjs',
  packages: readonly string[] = [],
): Promise<Consumer> {
  packed ??= packedFiles();
  await mkdir(join(root, '.consumers'), { recursive: true });
  const folder = await mkdtemp(join(root, '.consumers', `${version}-`));
  for (const file of await packed) {
    const target = join(folder, 'node_modules', manifest.name, file);
    await mkdir(dirname(target), { recursive: true });
    // Not linked: each link that another test makes or removes would be a change of the file to `node --watch`.
    await copyFile(join(root, file), target, constants.COPYFILE_FICLONE);
  }
  const playwright = resolve(root, PLAYWRIGHTS[version]);
  await mkdir(join(folder, 'node_modules', '@playwright'), { recursive: true });
  await symlink(playwright, join(folder, 'node_modules', '@playwright', 'test'), 'junction');

  for (const name of packages) {
    // `npm run test:versions` puts another version in its place, with all that it needs.
    const other = process.env[`TEST_${name.toUpperCase()}`];
    const from = other ?? join(root, 'node_modules', name);
    await cp(from, join(folder, 'node_modules', other ? '' : name), { recursive: true, verbatimSymlinks: true });
  }

  const write = async (files: Record<string, string>) => {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
  };
  await write({ 'package.json': JSON.stringify({ name: 'consumer', private: true, type }) });
  return {
    folder,
    playwrightCli: join(playwright, 'cli.js'),
    write,
    read: (file) => readFile(join(folder, file), 'utf8'),
    // The broker of a runner that was killed may be writing its last record.
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  };
}
