import type { Options } from 'tsup';

export const licences: NonNullable<Options['esbuildPlugins']>[number];
