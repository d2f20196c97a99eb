import { fileURLToPath } from 'node:url';

/** The built file of one of our processes. Every entry lies flat in `dist/`, and so does the chunk this code is in. */
export function processFile(name: 'broker-main' | 'emulator-main'): string {
  return fileURLToPath(new URL(`./${name}.js`, import.meta.url));
}
