import { createHash } from 'node:crypto';

/** The name of a file about a test: readable, and different for each try of each test. */
export function keptFileName(titles: readonly string[], id: string, retry: number): string {
  const words = titles
    .join(' ')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-');
  const short = createHash('sha256').update(`${id} ${retry}`).digest('hex').slice(0, 8);
  return `${words.slice(0, 60).replaceAll(/^-+|-+$/g, '') || 'test'}-${short}.html`;
}
