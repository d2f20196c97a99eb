import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { processorSeconds } from '../measuring/processor-seconds.ts';
import type { Figures } from '../measuring/samples.ts';
import type { EmulatorProcess } from '../surroundings/emulator.ts';
import { runPlaywright } from './playwright-run.ts';
import type { Project } from './project.ts';
import type { RealSuite } from './real-suite.ts';
import { type ReportedTest, reportedTests } from './report.ts';
import type { Side, Surroundings } from './side.ts';

/** Browsers that have just started or ended still use the processor, those of a warm pool do not. */
const REST_MS = 1_000;

/**
 * One run of a suite on one side. @throws Error with the run's output, when it was not the run that is to be measured
 */
export async function measuredRun(
  side: Side,
  suite: RealSuite,
  { consumer, reportFile }: Project,
  { emulator, near, env }: Pick<Surroundings, 'emulator' | 'near'> & { env: Record<string, string> },
): Promise<Figures> {
  await rm(reportFile, { force: true });
  const { directory } = consumer;
  const { BENCH_CHROMIUM: chromium = '' } = env;
  const prepared = await side.prepare({ emulator, near, workers: suite.workers ?? 1, directory, chromium });
  await delay(REST_MS);
  const before = processorSeconds();
  const run = await runPlaywright(consumer.playwrightCli, [], directory, { ...env, ...prepared.env });
  const processor = processorSeconds() - before;
  await prepared.remove();
  const problem =
    problemOf(side, suite, run.code, readTests(reportFile)) ??
    (await leftRunning(emulator)) ??
    (near && (await leftRunning(near.emulator)));
  if (problem !== null) {
    throw new Error(`A run of suite "${suite.name}" on side "${side.name}" ${problem}. Its output:\n${run.output}`);
  }
  return { seconds: run.seconds, processor, pictureBytes: pictureBytesOf(directory) };
}

/** Bytes of the pictures that were taken of the run's pages, as its record has them; 0 without poolwright. */
function pictureBytesOf(directory: string): number {
  const file = join(directory, 'test-results/poolwright/run.json');
  if (!existsSync(file)) return 0;
  const { sessions } = JSON.parse(readFileSync(file, 'utf8'));
  return sessions.reduce((sum: number, { pictureBytes = 0 }) => sum + pictureBytes, 0);
}

/** None where the run did not come to write its report. */
function readTests(file: string): ReportedTest[] {
  try {
    return reportedTests(file);
  } catch {
    return [];
  }
}

function problemOf(side: Side, { passes, fails }: RealSuite, code: number | null, tests: ReportedTest[]) {
  const counted = (status: ReportedTest['status']) => tests.filter((test) => test.status === status).length;
  const [passed, failed] = [counted('expected'), counted('unexpected')];
  if (passed !== passes || failed !== fails || tests.length !== passes + fails) {
    return `has ${passed} passed and ${failed} failed tests of ${tests.length}, not ${passes} and ${fails}`;
  }
  const wanted = fails > 0 ? 1 : 0;
  if (code !== wanted) return `ended with ${code}, not ${wanted}`;
  const wrong = tests.map((test) => ({ test, what: side.wrongBrowser(test) })).find(({ what }) => what !== null);
  return wrong ? `was on other browsers: "${wrong.test.title}" ${wrong.what}` : null;
}

async function leftRunning({ client }: EmulatorProcess): Promise<string | null> {
  const { sessions } = await client.listSessions({ status: 'active' });
  return sessions.length > 0 ? `left ${sessions.length} sessions running` : null;
}
