import type { Options } from 'tsup';

export const commonJs: NonNullable<Options['plugins']>[number];
export function isLibraryCode(code: string): boolean;
