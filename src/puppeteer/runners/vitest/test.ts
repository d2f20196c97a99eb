import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { TestAPI, TestContext } from 'vitest';
import type { HostedBrowserAttachment } from '../../../record/attachment.ts';
import { ATTACHMENT_NAME } from '../../../record/test-record.ts';
import type { HostedSession } from '../../../worker/hosted-session.ts';
import { RunnerWorker } from '../runner-worker.ts';
import { type Ended, type Served, sessionNote, type TestStart } from '../test-run.ts';

/** What tests have of their hosted browser. Whoever names none of them has none. */
export interface HostedFixtures {
  /** Leased when a test first asks for it; the same one serves the worker's next tests. */
  browser: Browser;
  /** A context of the test's own, or the browser's with its profile, as the option `context` says. */
  context: BrowserContext;
  /** The first page of {@link context}. */
  page: Page;
  /** The session that serves the test. */
  hostedSession: HostedSession;
}

interface OwnFixtures extends HostedFixtures {
  /** Of a worker: a file's, unless Vitest's `isolate` is off. */
  hostedWorker: RunnerWorker;
  /** Around each test with a hosted browser. */
  hostedTest: () => Promise<Served>;
}

declare module 'vitest' {
  interface TaskMeta {
    /** Which hosted browser a test had. */
    hostedBrowser?: HostedBrowserAttachment;
  }
}

type Task = TestContext['task'];

/** Vitest's main process loads this file too, for the global setup, and Vitest refuses to be loaded there. */
const vitest = process.env.VITEST_POOL_ID === undefined ? null : await import('vitest');

/** Vitest's `test` with a hosted browser in the hands of those tests that name one of its fixtures. */
export const test = (vitest && withFixtures(vitest.test)) as TestAPI<HostedFixtures>;

type Vitest = typeof import('vitest');

/** What a test file needs beside `test`: Vitest's own. `vi` is not among them, because Vitest hoists its own import only. */
const own = (vitest ?? {}) as Vitest;
/** The same as {@link test}. */
export const it: TestAPI<HostedFixtures> = test;
/** Vitest's own `expect`. */
export const expect: Vitest['expect'] = own.expect;
/** Vitest's own `assert`. */
export const assert: Vitest['assert'] = own.assert;
/** Vitest's own `describe`. */
export const describe: Vitest['describe'] = own.describe;
/** Vitest's own `suite`. */
export const suite: Vitest['suite'] = own.suite;
/** Vitest's own `beforeAll`. */
export const beforeAll: Vitest['beforeAll'] = own.beforeAll;
/** Vitest's own `beforeEach`. */
export const beforeEach: Vitest['beforeEach'] = own.beforeEach;
/** Vitest's own `afterEach`. */
export const afterEach: Vitest['afterEach'] = own.afterEach;
/** Vitest's own `afterAll`. */
export const afterAll: Vitest['afterAll'] = own.afterAll;
/** Vitest's own `onTestFailed`. */
export const onTestFailed: Vitest['onTestFailed'] = own.onTestFailed;
/** Vitest's own `onTestFinished`. */
export const onTestFinished: Vitest['onTestFinished'] = own.onTestFinished;

function withFixtures(base: TestAPI): TestAPI<HostedFixtures> {
  return base.extend<OwnFixtures>({
    hostedWorker: [
      // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which fixtures are needed
      async ({}, use) => {
        const worker = new RunnerWorker('vitest', {
          parallelIndex: Number(process.env.VITEST_POOL_ID ?? 1) - 1,
          workerIndex: Number(process.env.VITEST_WORKER_ID ?? 1) - 1,
        });
        await use(worker);
        await worker.close();
      },
      { scope: 'worker' },
    ],

    hostedTest: async ({ task, annotate, hostedWorker }, use) => {
      const scope = hostedWorker.openScope(task.timeout);
      const run = hostedWorker.begin(startOf(task), scope);
      let isAnnotated = false;
      await use(async () => {
        const served = await run.serve();
        if (isAnnotated) return served;
        isAnnotated = true;
        await annotate(served.session.sessionId, ATTACHMENT_NAME);
        return served;
      });
      await scope.close();
      const ended = await hostedWorker.end(run, outcomeOf(task));
      if (ended) putOnRecord(task, ended);
    },

    browser: async ({ hostedTest }, use) => await use((await hostedTest()).browser),
    context: async ({ hostedTest }, use) => await use((await hostedTest()).context),
    page: async ({ hostedTest }, use) => await use(await (await hostedTest()).page()),
    hostedSession: async ({ hostedTest }, use) => await use((await hostedTest()).session),
  }) as TestAPI<HostedFixtures>;
}

function startOf(task: Task): TestStart {
  const titles = [task.name];
  for (let { suite } = task; suite && suite.name !== ''; suite = suite.suite as typeof suite)
    titles.unshift(suite.name);
  return {
    id: task.id,
    titles,
    file: task.file.filepath,
    line: task.location?.line ?? 0,
    project: task.file.projectName ?? '',
    retry: task.result?.retryCount ?? 0,
    timeout: task.timeout,
  };
}

function outcomeOf({ result, fails = false }: Task & { fails?: boolean }) {
  const hasFailed = result?.state === 'fail';
  const isLate = hasFailed && /^Test timed out in/.test(result?.errors?.[0]?.message ?? '');
  const status = isLate ? 'timedOut' : hasFailed ? 'failed' : 'passed';
  return { status, ok: hasFailed === fails } as const;
}

/** @throws PoolwrightError what the test shall fail with, too */
function putOnRecord(task: Task, { attachment, error }: Ended): void {
  task.meta.hostedBrowser = attachment;
  for (const failure of task.result?.errors ?? []) {
    const note = `\n(${sessionNote(attachment)})`;
    if (failure.message?.includes(note)) continue;
    if (failure.stack) failure.stack = failure.stack.replace(failure.message, failure.message + note);
    failure.message += note;
  }
  if (error) throw error;
}
