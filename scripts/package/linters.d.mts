import type { Entry } from './entries.mjs';

export function lintPackage(file: string): Promise<string[]>;
export function lintTypes(file: string, entries: Entry[], packageName: string): Promise<string[]>;
