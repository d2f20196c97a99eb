import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

/** The relevant options of Mocha, from command line, .mocharc or package.json. */
export interface MochaOptions {
  parallel: boolean;
  watch: boolean;
  /** How many processes run tests. */
  jobs: number;
}

/** The modules with Mocha's function that reads its options, in different versions. */
const LOADERS = ['mocha/lib/cli/options.cjs', 'mocha/lib/cli/options.js'];

/** Reads the options, because Mocha does not pass them to a global setup. */
export function mochaOptions(directory: string, args: readonly string[]): MochaOptions {
  const { parallel = false, watch = false, jobs } = loaded(directory, args);
  const isMany = typeof jobs === 'number' && jobs > 0;
  const many = isMany ? jobs : Math.max(1, availableParallelism() - 1);
  return { parallel: parallel === true, watch: watch === true, jobs: parallel === true ? many : 1 };
}

function loaded(directory: string, args: readonly string[]): Record<string, unknown> {
  const require = createRequire(join(directory, 'package.json'));
  for (const path of LOADERS) {
    try {
      return require(path).loadOptions([...args]);
    } catch {
      // Other versions of Mocha.
    }
  }
  return { parallel: args.includes('--parallel'), watch: args.includes('--watch') };
}
