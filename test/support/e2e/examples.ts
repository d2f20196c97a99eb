import { spawn } from 'node:child_process';
import { cp, mkdir, readdir, readFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { Consumer } from './consumer.ts';
import { installPrograms } from './programs.ts';
import { follow, userEnvironment } from './run-command.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const DIRECTORY = join(ROOT, 'examples');

/** The parts of an example's package.json that tests need. */
export async function readExample(name: string): Promise<{ dependencies: Record<string, string> }> {
  const { dependencies, devDependencies } = JSON.parse(await readFile(join(DIRECTORY, name, 'package.json'), 'utf8'));
  return { dependencies: { ...dependencies, ...devDependencies } };
}

/** Recipes for services. Each is copied with the service's SDK, which is not installed here: scripts/providers.mjs. */
const RECIPES = /(^|[\\/])services[\\/]/;

/** Returns the packages that an example's files import. */
export async function importedBy(name: string): Promise<string[]> {
  const imported = new Set<string>();
  for (const file of await readdir(join(DIRECTORY, name), { recursive: true })) {
    if (!/\.(ts|js|mjs)$/.test(file) || file.includes('node_modules') || RECIPES.test(file)) continue;
    for (const [, from = ''] of (await readFile(join(DIRECTORY, name, file), 'utf8')).matchAll(
      / from '([^.'][^']*)'/g,
    )) {
      if (!from.startsWith('node:')) imported.add(/^(@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from);
    }
  }
  return [...imported].sort();
}

/** Copies an example into a directory, without the output of earlier runs in the repository. */
export async function copyDirectory(name: string, directory: string): Promise<void> {
  const isSource = (path: string) => !/[\\/](node_modules|test-results|playwright-report|shards)$/.test(path);
  await cp(join(DIRECTORY, name), directory, { recursive: true, filter: isSource });
}

/**
 * Creates a user's copy of an example in the state after `npm install`: a directory inside the consumer's, which has
 * the installed packages.
 * @returns the consumer with this directory as its own
 */
export async function copyExample(name: string, installed: Consumer): Promise<Consumer> {
  const directory = join(installed.directory, name);
  await copyDirectory(name, directory);
  await mkdir(join(directory, 'node_modules')); // where a run keeps its ledger
  await installPrograms(installed);
  return { ...installed, directory, read: (file) => readFile(join(directory, file), 'utf8') };
}

/** Runs a script of its package.json as npm does, but without npm, which takes half a second of processor time. */
export async function runTestScript(
  consumer: Consumer,
  env: Record<string, string>,
  args: readonly string[] = [],
  script = 'test',
) {
  const { scripts } = JSON.parse(await consumer.read('package.json'));
  const PATH = [consumer.directory, dirname(consumer.directory), ROOT]
    .map((directory) => join(directory, 'node_modules/.bin'))
    .concat(process.env.PATH ?? '')
    .join(delimiter);
  return await runProgram(consumer, 'sh', ['-c', `${scripts[script]} "$@"`, 'sh', ...args], { ...env, PATH });
}

/** Runs a program of the user's shell there until it ends. */
export async function runProgram(
  consumer: Consumer,
  program: string,
  args: readonly string[],
  env: Record<string, string> = {},
) {
  const child = spawn(program, args, {
    cwd: consumer.directory,
    env: userEnvironment(env),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const run = follow(child, consumer);
  const { code } = await run.exit;
  return { code, output: run.output() };
}
