import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeSbom } from './sbom.mjs';

/** Where the licences of what is bundled are shipped. */
const LICENCES = join('dist', 'THIRD_PARTY_LICENSES.txt');

/** Directories of the packages of which a file was bundled. */
const directories = new Set();

/**
 * A plugin of the build: writes the licence of every package that is bundled into {@link LICENCES}, and the list of
 * them. The builds of one run add to the same files. Fails the build when a package has no licence.
 */
export const licences = {
  name: 'licences',
  setup(build) {
    build.onLoad({ filter: /[\\/]node_modules[\\/]/ }, ({ path }) => {
      const directory = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(path)?.[0];
      if (directory) directories.add(directory);
    });
    build.onEnd(() => {
      const sorted = [...directories].sort();
      const texts = sorted.map(licenceOf);
      mkdirSync(dirname(LICENCES), { recursive: true });
      writeFileSync(LICENCES, `poolwright holds code of these packages.\n\n${texts.join('\n\n')}\n`);
      writeSbom(sorted);
    });
  },
};

function licenceOf(directory) {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const file = readdirSync(directory).find((each) => /^licen[cs]e/i.test(each));
  if (!license) throw new Error(`${name} names no licence`);
  const text = file
    ? readFileSync(join(directory, file), 'utf8').trim()
    : `${license} (the package ships no text of it)`;
  return `${'-'.repeat(80)}\n${name} ${version} (${license})\n\n${text}`;
}
