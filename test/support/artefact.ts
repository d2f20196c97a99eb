import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What a test runs on: the sources, or their build as ES modules or CommonJS. */
export type Artefact = 'sources' | 'esm' | 'cjs';

const DIST = resolve(import.meta.dirname, '../../dist');
const require = createRequire(import.meta.url);

/**
 * Loads a built file by the name of its entry, or of a lazily loaded module, which has a separate file.
 * @throws Error if there is no such file
 */
export async function loadBuilt<Module>(name: string, artefact: Exclude<Artefact, 'sources'>): Promise<Module> {
  const extension = artefact === 'cjs' ? 'cjs' : 'js';
  const isPart = new RegExp(`^${name}-[A-Z0-9]{8}\\.${extension}$`);
  const files = readdirSync(DIST);
  const file = files.find((each) => each === `${name}.${extension}`) ?? files.find((each) => isPart.test(each));
  if (file === undefined) throw new Error(`dist holds no ${name}.${extension}: run npm run build`);
  const path = join(DIST, file);
  return artefact === 'cjs' ? require(path) : await import(pathToFileURL(path).href);
}
