import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Consumer, makeConsumer } from '../../test/support/e2e/consumer.ts';
import type { RealSuite } from './real-suite.ts';
import type { Side } from './side.ts';

/** A suite written for one side, in a separate user project. */
export interface Project {
  consumer: Consumer;
  reportFile: string;
}

/** @param exposeNetwork the option of that name; null: not given */
export async function writeProject(side: Side, suite: RealSuite, exposeNetwork: string | null): Promise<Project> {
  const consumer = await makeConsumer('latest');
  const files = Object.entries(suite.files).map(([name, source]) => [
    `tests/${name}`,
    side.fixtures === null ? source : source.replace("from '@playwright/test'", "from '../fixtures'"),
  ]);
  await consumer.write({
    'playwright.config.ts': configOf(side, suite, exposeNetwork),
    ...(side.fixtures === null ? {} : { 'fixtures.ts': side.fixtures }),
    ...Object.fromEntries(files),
  });
  if (side.build) await useBuild(consumer.directory, side.build);
  return { consumer, reportFile: join(consumer.directory, 'report.json') };
}

/** Replaces the present build by another one. */
async function useBuild(directory: string, build: string): Promise<void> {
  const place = join(directory, 'node_modules/poolwright');
  await rm(place, { recursive: true });
  for (const each of ['package.json', 'dist']) await cp(join(build, each), join(place, each), { recursive: true });
}

function configOf(
  side: Side,
  { workers, site, use = '', config = '' }: RealSuite,
  exposeNetwork: string | null,
): string {
  const isExample = site === 'own';
  return `import { defineConfig } from '@playwright/test';

const config = {
  testDir: './tests',
  ${workers === null ? '' : `workers: ${workers},`}
  reporter: [['list'], ['json', { outputFile: 'report.json' }]${isExample ? ", ['html', { open: 'never' }]" : ''}],
  use: {
    baseURL: process.env.BENCH_SITE,
    ${use}
  },
  ${config}
} as any;

${side.config({ exposeNetwork })}
`;
}
