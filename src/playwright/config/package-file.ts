import { fileURLToPath } from 'node:url';

/** A built file of ours that Playwright loads by path. Every entry lies flat in `dist/`. */
export function packageFile(name: 'global-setup' | 'reporter'): string {
  return fileURLToPath(new URL(`./${name}.js`, import.meta.url));
}
