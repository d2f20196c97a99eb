import type { Plugin } from 'esbuild';

export const undiciClient: Plugin;
