import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { up as nearest } from 'empathic/find';
import { up as nearestPackage } from 'empathic/package';
import { OptionsError } from '../../errors.ts';
import { type Agent, detect, globSync, resolveCommand } from './libraries.ts';

/** The fields of a `package.json` that `init` reads. */
export interface Manifest {
  scripts?: Record<string, string>;
  workspaces?: unknown;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  /** Configs of these runners. */
  jest?: unknown;
  mocha?: unknown;
}

/** The package that the tests belong to. */
export interface Project {
  /** Where `init` was started: `directory`, or a directory above or below it. */
  start: string;
  /** Directory of the nearest `package.json`; without one, the directory that was asked for. */
  directory: string;
  /** The repository's directory, where CI looks for its files; without one, `directory`. */
  root: string;
  /** Whether `root` is a Git repository. */
  hasGit: boolean;
  /** Null: there is no `package.json`. */
  manifest: Manifest | null;
  /** Names of all dependencies, those of the repository's own package included. */
  dependencies: Set<string>;
  agent: Agent;
}

/**
 * The project that a directory belongs to.
 * @param start where `init` was started
 * @throws OptionsError for a `package.json` that is not a JSON object
 */
export async function projectOf(tests: string, start: string): Promise<Project> {
  // Directories above the repository are not part of it.
  const git = nearest('.git', { cwd: tests });
  const last = git && dirname(git);
  const file = nearestPackage({ cwd: tests, ...(last !== undefined && { last }) });
  const directory = file ? dirname(file) : tests;
  const root = last ?? directory;
  const manifest = file ? readManifest(file) : null;
  const above = root === directory ? null : readManifest(join(root, 'package.json'), true);
  const dependencies = new Set(
    [manifest, above].flatMap((each) => Object.keys({ ...each?.dependencies, ...each?.devDependencies })),
  );
  const found = await detect({ cwd: directory, stopDir: root });
  return { start, directory, root, hasGit: git !== undefined, manifest, dependencies, agent: found?.agent ?? 'npm' };
}

function readManifest(file: string, mayLack = false): Manifest | null {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    if (mayLack) return null;
    const why =
      error instanceof SyntaxError ? 'is not valid JSON' : `cannot be read (${(error as NodeJS.ErrnoException).code})`;
    throw new OptionsError('package.json', `${file} ${why}. Fix it first: nothing was changed.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new OptionsError('package.json', `${file} is not a JSON object. Fix it first: nothing was changed.`);
}

type PackageCommand = 'add' | 'frozen' | 'execute-local' | 'run';

/** A command of the project's package manager, as it is typed in the package's directory. */
export function commandOf(agent: Agent, what: PackageCommand, args: string[]): string {
  const { command, args: all } = resolveCommand(agent, what, args) ?? { command: 'npx', args };
  return [command, ...all].join(' ');
}

/** The same as it is typed where `init` was started, which may be the root of a monorepo. */
export function commandFromStart({ start, directory, agent }: Project, what: PackageCommand, args: string[]): string {
  const plain = commandOf(agent, what, args);
  const below = relative(start, directory).replaceAll('\\', '/');
  if (below === '' || below.startsWith('..')) return plain;
  const [program = '', ...rest] = plain.split(' ');
  const manager = agent.replace(/@.*/, '');
  const flag = { npm: isWorkspace(start, below) ? '-w' : '--prefix', pnpm: '-C', yarn: '--cwd' }[manager];
  return flag ? [program, flag, below, ...rest].join(' ') : `cd ${below} && ${plain}`;
}

/** Whether the `package.json` of a directory names the one below as one of its workspaces. */
function isWorkspace(root: string, below: string): boolean {
  const { workspaces } = readManifest(join(root, 'package.json'), true) ?? {};
  const patterns = Array.isArray(workspaces)
    ? workspaces
    : (workspaces as { packages?: unknown } | undefined)?.packages;
  if (!Array.isArray(patterns)) return false;
  const manifests = patterns.map((pattern) => `${String(pattern).replace(/\/$/, '')}/package.json`);
  return globSync(manifests, { cwd: root, ignore: '**/node_modules/**' }).includes(`${below}/package.json`);
}

/** Which of these files have changes that git does not have; none where there is no git. */
export async function uncommitted(files: string[], root: string): Promise<string[]> {
  const changed = files.map(async (file) => {
    const asked = promisify(execFile)('git', ['status', '--porcelain', '--', file], { cwd: root, timeout: 10_000 });
    const { stdout } = await asked.catch(() => ({ stdout: '' }));
    return stdout.trim() === '' ? [] : [relative(root, file)];
  });
  return (await Promise.all(changed)).flat();
}

/** The version of an installed package, such as `1.65.1`; undefined where it is not installed. */
export function installedVersion(name: string, directory: string): string | undefined {
  const file = nearest(join('node_modules', name, 'package.json'), { cwd: directory });
  return file && (JSON.parse(readFileSync(file, 'utf8')) as { version?: string }).version;
}
