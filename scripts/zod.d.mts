import type { Plugin } from 'esbuild';

export const zodInEnglish: Plugin;
