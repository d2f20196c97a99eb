import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';
import { shared } from '../../../tsup.config.ts';

const root = new URL('../../..', import.meta.url);

export interface BuiltEntries {
  emulatorMain: string;
  cli: string;
  remove(): Promise<void>;
}

/** Builds the process entries as a user runs them into a directory where their dependencies resolve. */
export async function buildEntries(id: number): Promise<BuiltEntries> {
  const outDir = fileURLToPath(new URL(`node_modules/.cache/poolwright-entries-${process.pid}-${id}`, root));
  await build({
    config: false,
    entry: {
      'emulator-main': fileURLToPath(new URL('src/emulator/main.ts', root)),
      cli: fileURLToPath(new URL('src/cli/main.ts', root)),
    },
    ...shared,
    esbuildPlugins: [],
    format: ['esm'],
    outDir,
    silent: true,
  });
  return {
    emulatorMain: `${outDir}/emulator-main.js`,
    cli: `${outDir}/cli.js`,
    remove: () => rm(outDir, { recursive: true, force: true }),
  };
}
