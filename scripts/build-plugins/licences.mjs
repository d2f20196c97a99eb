import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeSbom } from '../sbom.mjs';

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

/** Packages under the MIT licence that ship no text of it: whom each names as its authors. */
const AUTHORS = {
  '@bomb.sh/tab': 'Copyright (c) Bombshell Authors',
  '@hono/zod-openapi': 'Copyright (c) Yusuke Wada and Hono contributors',
  '@hono/zod-validator': 'Copyright (c) Yusuke Wada and Hono contributors',
};

/** Code of others in a package, which its licence does not name: under the MIT licence, too. */
const WITHIN = { undici: { llhttp: 'Copyright Fedor Indutny, 2018.' } };

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;

function licenceOf(directory) {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const file = readdirSync(directory).find((each) => /^licen[cs]e/i.test(each));
  if (!license) throw new Error(`${name} names no licence`);
  const within = Object.entries(WITHIN[name] ?? {}).map(
    ([part, holder]) => `${part}, in ${name}:\n\n${holder}\n\n${MIT}`,
  );
  const own = file ? readFileSync(join(directory, file), 'utf8').trim() : mitOf(name, license);
  return `${'-'.repeat(80)}\n${name} ${version} (${license})\n\n${[own, ...within].join('\n\n')}`;
}

function mitOf(name, license) {
  const authors = AUTHORS[name];
  if (!authors || license !== 'MIT')
    throw new Error(`${name} ships no text of its licence: add its authors to AUTHORS`);
  return `MIT License\n\n${authors}\n\n${MIT}`;
}
