import { join, resolve } from 'node:path';
import type { FullConfig } from '@playwright/test/reporter';

/** Where the files of a run are written. */
export function recordDirectory({ projects }: FullConfig): string {
  return join(projects[0]?.outputDir ?? resolve('test-results'), 'poolwright');
}
