import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { main } from '../playwright.mjs';

/**
 * `npm run release` (`-- version`, `-- status`): the CLI of changesets. It versions the workspaces of a repository and
 * never its root; ours is a workspace of an old Playwright, and what is published is the root. So it does not get to
 * see that there are any.
 */

const MANIFEST = 'package.json';

await main(async () => {
  const before = readFileSync(MANIFEST, 'utf8');
  const { workspaces, ...manifest } = JSON.parse(before);
  const shown = `${JSON.stringify(manifest, null, 2)}\n`;
  writeFileSync(MANIFEST, shown);
  // Ctrl-C is the CLI's to handle; here the file has to be put back.
  process.on('SIGINT', () => undefined);
  try {
    const args = ['node_modules/@changesets/cli/bin.js', ...process.argv.slice(2)];
    const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit');
    return code ?? 1;
  } finally {
    const after = readFileSync(MANIFEST, 'utf8');
    const { version } = JSON.parse(after);
    writeFileSync(MANIFEST, before.replace(/^( {2}"version": )".*"/m, `$1"${version}"`));
    inLockFile(version);
  }
});

/** The lock file has the version, too. */
function inLockFile(version) {
  const file = 'package-lock.json';
  const before = readFileSync(file, 'utf8');
  const lock = JSON.parse(before);
  lock.version = version;
  lock.packages[''].version = version;
  const text = `${JSON.stringify(lock, null, 2)}\n`;
  if (text !== before) writeFileSync(file, text);
}
