import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Packs a directory as `npm publish` would.
 * @param {string} destination where the tarball goes
 * @returns {{ file: string, size: number, unpackedSize: number }} its path, and how many bytes it and its files have
 */
export function pack(destination, directory = '.') {
  const stdout = npm(['pack', directory, '--json', '--ignore-scripts', '--pack-destination', destination]);
  const [{ filename, size, unpackedSize }] = JSON.parse(stdout);
  return { file: join(destination, filename), size, unpackedSize };
}

/** Runs npm and returns what it printed. @param {string[]} args @param {string} cwd */
export function npm(args, cwd = '.') {
  // npm is a script on Windows, which only a shell can start.
  const options = { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2, shell: process.platform === 'win32' };
  const { status, stdout, stderr } = spawnSync('npm', args, options);
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${stderr}`);
  return stdout;
}
