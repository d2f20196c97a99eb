import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { TestAPI, TestContext } from 'vitest';
import type { HostedSession } from '../../clients/shared/hosted-session.ts';
import type { HostedBrowserAttachment } from '../../record/attachment.ts';
import { ATTACHMENT_NAME } from '../../record/test-record.ts';
import { addToMessage } from '../shared/add-to-message.ts';
import { RunnerWorker } from '../shared/runner-worker.ts';
import { type EndedTest, failureText, type HostedValues, type TestStart } from '../shared/test-run.ts';

/** Fixtures of the hosted browser. A test that uses none of them has no hosted browser. */
export interface HostedFixtures {
  /** Leased on first use. The worker's next tests use it, too. */
  browser: Browser;
  /** The test's own context, or the browser's default context with its profile, depending on the option `context`. */
  context: BrowserContext;
  /** The first page of {@link context}. */
  page: Page;
  /** The session whose browser the test uses. */
  hostedSession: HostedSession;
}

interface OwnFixtures extends HostedFixtures {
  /** Per worker: per file, unless Vitest's `isolate` is off. */
  hostedWorker: RunnerWorker;
  /** Set up around each test with a hosted browser. */
  hostedTest: () => Promise<HostedValues>;
}

declare module 'vitest' {
  interface TaskMeta {
    /** The hosted browser that the test had. */
    hostedBrowser?: HostedBrowserAttachment;
  }
}

type Task = TestContext['task'];

const VITEST = { name: 'vitest', hint: "add `globalSetup: 'poolwright/vitest'` to `test` in vitest.config" } as const;

/** Vitest's main process loads this file too, for the global setup. Vitest cannot be imported there. */
const vitest = process.env.VITEST_POOL_ID === undefined ? null : await import('vitest');

// After Ctrl-C in watch mode, Vitest's main process does not wait for its workers, and one that is just starting or
// ending may stay. Vitest replaces `process.exit` by a function that throws.
if (vitest) process.once('disconnect', () => process.kill(process.pid));

/** Vitest's `test`, with fixtures for a hosted browser. */
export const test = (vitest && withFixtures(vitest.test)) as TestAPI<HostedFixtures>;

/** What Vitest exports. */
type Vitest = typeof import('vitest');

/** Vitest's own exports for test files. `vi` is not included, because Vitest hoists mocks only with its own import. */
const vitestExports = (vitest ?? {}) as Vitest;
/** The same as {@link test}. */
export const it: TestAPI<HostedFixtures> = test;
/** Vitest's own `expect`. */
export const expect: Vitest['expect'] = vitestExports.expect;
/** Vitest's own `assert`. */
export const assert: Vitest['assert'] = vitestExports.assert;
/** Vitest's own `describe`. */
export const describe: Vitest['describe'] = vitestExports.describe;
/** Vitest's own `suite`. */
export const suite: Vitest['suite'] = vitestExports.suite;
/** Vitest's own `beforeAll`. */
export const beforeAll: Vitest['beforeAll'] = vitestExports.beforeAll;
/** Vitest's own `beforeEach`. */
export const beforeEach: Vitest['beforeEach'] = vitestExports.beforeEach;
/** Vitest's own `afterEach`. */
export const afterEach: Vitest['afterEach'] = vitestExports.afterEach;
/** Vitest's own `afterAll`. */
export const afterAll: Vitest['afterAll'] = vitestExports.afterAll;
/** Vitest's own `onTestFailed`. */
export const onTestFailed: Vitest['onTestFailed'] = vitestExports.onTestFailed;
/** Vitest's own `onTestFinished`. */
export const onTestFinished: Vitest['onTestFinished'] = vitestExports.onTestFinished;

function withFixtures(base: TestAPI): TestAPI<HostedFixtures> {
  return base.extend<OwnFixtures>({
    hostedWorker: [
      // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which fixtures are needed
      async ({}, use) => {
        const worker = new RunnerWorker(VITEST, {
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
        const values = await run.open();
        if (isAnnotated) return values;
        isAnnotated = true;
        await annotate(values.session.sessionId, ATTACHMENT_NAME);
        return values;
      });
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
  return { status, ok: hasFailed === fails, error: result?.errors?.[0]?.message } as const;
}

function putOnRecord(task: Task, ended: EndedTest): void {
  const { attachment, error } = ended;
  task.meta.hostedBrowser = attachment;
  for (const failure of task.result?.errors ?? []) {
    // The error of an earlier try has the notes of that try.
    if (failure.message?.includes('\n(hosted browser: ')) continue;
    addToMessage(failure, failureText(ended));
  }
  // It caused the others.
  if (error) task.result?.errors?.unshift({ name: error.name, message: error.message, stack: String(error) });
}
