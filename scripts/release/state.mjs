import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * `node scripts/release/state.mjs`: what the release workflow has to do next, as lines of `$GITHUB_OUTPUT`. `propose`:
 * there are changes that no version has. `publish`: the version is not published. `nothing`: neither.
 */

/** @param changes file names in `.changeset` @param isPublished asked only when it matters */
export function nextStep(changes, isPublished) {
  if (changes.some((name) => name.endsWith('.md') && name !== 'README.md')) return 'propose';
  return isPublished() ? 'nothing' : 'publish';
}

/** Whether the registry has this version; throws where it does not say. */
function isPublished({ name, version }) {
  const args = ['view', `${name}@${version}`, 'version', '--json'];
  const { status, stdout, stderr } = spawnSync('npm', args, { encoding: 'utf8', shell: process.platform === 'win32' });
  if (status === 0) return stdout.trim() !== ''; // the package is there, and prints nothing when the version is not
  if (/E404/.test(stdout + stderr)) return false;
  throw new Error(`npm ${args.join(' ')} failed:\n${stderr}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  console.log(`next=${nextStep(readdirSync('.changeset'), () => isPublished(manifest))}`);
  console.log(`version=${manifest.version}`);
}
