import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const INPUTS = ['src', 'tsup.config.ts', 'package.json', 'tsconfig.json'];
const LAST_OUTPUT = 'dist/index.d.cts'; // types are written last

function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** Builds the package, unless the last build is newer than everything it was made from. */
export function ensureBuilt() {
  if (existsSync(LAST_OUTPUT) && statSync(LAST_OUTPUT).mtimeMs > Math.max(...INPUTS.map(newest))) return;
  console.log('Building poolwright …');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['node_modules/tsup/dist/cli-default.js', '--silent'],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`The build failed:\n${stdout}${stderr}`);
}
