import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FullConfig } from '@playwright/test/reporter';
import { errorMessage } from '../../common/error-message.ts';
import { notify } from '../../common/text/notify.ts';
import { writeAtomically } from '../../common/write-atomically.ts';
import { OptionsError } from '../../errors.ts';
import { projectIds } from '../../options/project-ids.ts';
import type { ShardsOption } from '../../options/schema/reporter.ts';
import { recordDirectory } from '../run-reporter.ts';
import { cacheFile, findTimings } from './find-timings.ts';
import type { RanSuite } from './shard-record.ts';
import { configDirectory, workersOf } from './suite-tests.ts';
import { ByTest, inserted, type TestKey } from './test-tree.ts';
import { type Timings, timingsText, withMeasured } from './timings-file.ts';

/** Writes what a run has measured, with what was known before. Says it if that fails, and never rejects. */
export async function writeTimings(
  { config, ran, whole, begun, browsers }: RanSuite,
  option: ShardsOption,
): Promise<void> {
  const directory = recordDirectory(config);
  // Merged blobs name the output directory of the machine that ran the tests.
  if (!existsSync(dirname(dirname(directory)))) return;
  const exists = existingFiles(config);
  const measured = new ByTest<number>();
  for (const { test, key } of [...begun.sharded, ...begun.repeated]) {
    const one = ran.get(test);
    if (one?.isMeasured && exists(key)) measured.set(key, Math.max(one.ms, measured.get(key) ?? 0));
  }
  if (measured.entries().next().done) return;
  const earlier = new ByTest<readonly number[]>();
  for (const [key, history] of earlierTimings(config, whole, option)?.tests.entries() ?? [])
    if (exists(key)) earlier.set(key, history);
  const text = timingsText({ ...workersOf(config), browsers, tests: withMeasured(earlier, measured.entries()) });
  const cache = config.shard ? null : cacheFile(config, process.env);
  for (const file of [join(directory, 'timings.json'), ...(cache === null ? [] : [cache])]) {
    try {
      await writeAtomically(file, text);
    } catch (error) {
      notify(`${file} could not be written: ${errorMessage(error)}`);
    }
  }
}

/** A run without shards may name a file that does not exist yet. */
function earlierTimings(config: FullConfig, whole: RanSuite['whole'], option: ShardsOption): Timings | null {
  if (config.shard && whole) return whole.timings;
  try {
    return findTimings(config, option, process.env).timings;
  } catch (error) {
    if (error instanceof OptionsError) return null;
    throw error;
  }
}

/** Tests that were removed with their file or project are left out. */
function existingFiles(config: FullConfig): (key: TestKey) => boolean {
  const directory = configDirectory(config);
  const projects = new Set(projectIds(config.projects.map(({ name }) => name)));
  const files = new Map<string, boolean>();
  return ({ project, file }) => projects.has(project) && inserted(files, file, () => existsSync(join(directory, file)));
}
