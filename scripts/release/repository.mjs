import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * `node scripts/release/repository.mjs owner/name`: names the repository that a release comes from in package.json.
 * Only package.json has the owner's name, and there it is a placeholder until the repository is public.
 */

/** The text of package.json with another repository in its three fields. */
export function inRepository(manifest, repository) {
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository))
    throw new Error(`not a repository: "${repository}". Expected owner/name.`);
  const { url } = JSON.parse(manifest).repository;
  const [, old] = /^git\+https:\/\/github\.com\/(.+)\.git$/.exec(url) ?? [];
  if (!old) throw new Error(`package.json: unexpected repository.url: ${url}`);
  return manifest.replaceAll(`github.com/${old}`, `github.com/${repository}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = fileURLToPath(new URL('../../package.json', import.meta.url));
  writeFileSync(file, inRepository(readFileSync(file, 'utf8'), process.argv[2] ?? ''));
}
