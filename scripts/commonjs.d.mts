import type { Options } from 'tsup';

type Plugin = NonNullable<Options['plugins']>[number];

export const commonJs: Plugin;
export function esModulesOf(names: string[], kind: { isBundled: boolean }): Plugin;
export function isLibraryCode(code: string): boolean;
