import { createRequire } from 'node:module';
import type { TestEnvironment } from 'jest-environment-node';
import { OptionsError } from '../../errors.ts';

/** Loads Jest's Node environment, of the Jest that runs. It need not be installed next to poolwright. */
export function loadNodeEnvironment(): typeof TestEnvironment {
  for (const place of [import.meta.url, `${process.cwd()}/package.json`]) {
    try {
      return createRequire(place)('jest-environment-node').TestEnvironment;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND')) throw error;
    }
  }
  throw new OptionsError(
    'testEnvironment',
    'jest-environment-node is not installed. Run `npm install --save-dev jest-environment-node@<version of your Jest>`.',
    'ENVIRONMENT_MISSING',
  );
}
