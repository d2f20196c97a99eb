import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The shape of a config that public repositories have, in a text of our own. */
export interface Shape {
  /** Its extension is the config's own. */
  name: string;
  /** What it stands for. */
  says: string;
  /** `type` of the package that it lies in. */
  type: 'module' | 'commonjs';
  /** What is expected of an edit; `by hand: …` with why. */
  result: string;
  text: string;
}

const FOLDER = resolve(import.meta.dirname, '../../../unit/cli/init/configs');

/** All of them. */
export const shapes: Shape[] = readdirSync(FOLDER)
  .sort()
  .map((file) => {
    const [head = '', ...body] = readFileSync(resolve(FOLDER, file), 'utf8').split('---\n');
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(head)?.[1];
    return {
      name: file.replace(/\.txt$/, ''),
      says: field('shape') ?? '',
      type: field('package') === 'module' ? 'module' : 'commonjs',
      result: field('result') ?? 'wrapped',
      text: body.join('---\n'),
    };
  });
