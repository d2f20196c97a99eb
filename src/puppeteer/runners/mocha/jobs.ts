import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

/** What counts of Mocha's options, from wherever it takes them: command line, .mocharc, package.json. */
export interface MochaOptions {
  parallel: boolean;
  watch: boolean;
  /** How many processes run tests. */
  jobs: number;
}

/** Where the function is that Mocha reads its options with, in its versions. */
const LOADERS = ['mocha/lib/cli/options.cjs', 'mocha/lib/cli/options.js'];

/** Mocha tells none of them to a global setup. */
export function mochaOptions(folder: string, args: readonly string[]): MochaOptions {
  const { parallel = false, watch = false, jobs } = loaded(folder, args);
  const isMany = typeof jobs === 'number' && jobs > 0;
  const many = isMany ? jobs : Math.max(1, availableParallelism() - 1);
  return { parallel: parallel === true, watch: watch === true, jobs: parallel === true ? many : 1 };
}

function loaded(folder: string, args: readonly string[]): Record<string, unknown> {
  const require = createRequire(join(folder, 'package.json'));
  for (const path of LOADERS) {
    try {
      return require(path).loadOptions([...args]);
    } catch {
      // Another version of Mocha.
    }
  }
  return { parallel: args.includes('--parallel'), watch: args.includes('--watch') };
}
