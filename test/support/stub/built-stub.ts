import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '../../..');
let built: Promise<string> | null = null;

/** Builds the emulator with stubs, once per process, for the separate processes that this one starts. Returns its path. */
export function builtStub(): Promise<string> {
  built ??= buildStub();
  return built;
}

async function buildStub(): Promise<string> {
  // Where its dependencies resolve.
  const outfile = resolve(root, `node_modules/.cache/poolwright-stub/${process.pid}.mjs`);
  const contents = `export { startStubEmulator as startEmulator } from './start.ts';`;
  await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    ...{ outfile, target: 'node20', bundle: true, platform: 'node', format: 'esm', packages: 'external' },
  });
  process.on('exit', () => rmSync(outfile, { force: true }));
  return outfile;
}
