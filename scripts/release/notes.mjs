import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** `node scripts/release/notes.mjs`: what CHANGELOG.md says of the present version, for its GitHub release. */

/**
 * The text under a version's heading, up to the next one; of the first version, which has none yet, what is unreleased.
 */
export function notesOf(version, changelog) {
  const sections = changelog.split(/^(?=## )/m);
  const section = (heading) => sections.find((text) => text.startsWith(`## ${heading}\n`));
  return (section(version) ?? section('Unreleased') ?? '').replace(/^## .*\n+/, '').trim();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  console.log(notesOf(version, readFileSync('CHANGELOG.md', 'utf8')));
}
