import type { Browser, BrowserContext, Page } from 'puppeteer-core';
import type { HostedSession } from '../../clients/shared/hosted-session.ts';
import { print } from '../../common/text/notify.ts';
import { OptionsError } from '../../errors.ts';
import { addToMessage } from '../shared/add-to-message.ts';
import type { RunnerWorker } from '../shared/runner-worker.ts';
import { type EndedTest, failureNotes, failureText, type TestRun } from '../shared/test-run.ts';
import { runnerFlags } from './runner-flags.ts';
import { isWithin, type NodeTest, outcomeOf, startOf } from './test-facts.ts';

/** The hosted browser of a test. */
export interface HostedTest {
  /** Leased before the first test. The following tests use it, too. */
  readonly browser: Browser;
  /**
   * The test's own context, or the default one with its profile, depending on the option `context`. Subtests share it.
   */
  readonly context: BrowserContext;
  /** The first page of {@link context}. */
  readonly page: Page;
  /** Its session at the service, and what the test may ask of it. */
  readonly session: HostedSession;
}

/** A test with a hosted browser. */
interface Running {
  test: NodeTest;
  run: TestRun;
  /** Null until the browser is ready. */
  values: HostedTest | null;
  /** How many `hostedBrowser()` calls apply to it. The last of their hooks ends it. */
  hooks: number;
}

/** The hosted browser of one process that runs Node's tests, and the tests that run there. */
class TestProcess {
  #worker: Promise<OpenWorker> | null = null;
  /** How many suites with `hostedBrowser()` have not ended. */
  #suites = 0;
  readonly #running = new Map<NodeTest, Running>();
  /** Subtests, with the test that they belong to. */
  readonly #subtests = new WeakMap<NodeTest, Running>();

  /** A suite with hosted browsers begins. */
  suiteBegins(): void {
    this.#suites += 1;
  }

  /** A suite ends. The last one gives the browser back. */
  async suiteEnds(): Promise<void> {
    this.#suites -= 1;
    if (this.#suites > 0) return;
    await this.#endFinished(true);
    const worker = this.#worker;
    this.#worker = null;
    await (await worker?.catch(() => null))?.close();
  }

  /** A test or a subtest begins. @throws LeaseError, ServiceError, OptionsError when no browser is available */
  async begin(test: NodeTest): Promise<void> {
    const known = this.#running.get(test) ?? this.#subtests.get(test);
    if (known) {
      if (known.test === test) known.hooks += 1;
      return;
    }
    await this.#endFinished(false);
    const parent = [...this.#running.values()].find(({ test: other }) => isWithin(test, other));
    if (parent) {
      this.#subtests.set(test, parent);
      return;
    }
    this.#worker ??= openWorker();
    const { worker } = await this.#worker;
    const scope = worker.openScope(0);
    const run = worker.begin(startOf(test), scope);
    const running: Running = { test, run, values: null, hooks: 1 };
    this.#running.set(test, running);
    const { page, ...values } = await run.open();
    running.values = { ...values, page: await page() };
  }

  /** A hook after a test. Never rejects. */
  async end(test: NodeTest): Promise<void> {
    const running = this.#running.get(test);
    if (!running) return;
    running.hooks -= 1;
    if (running.hooks === 0) await this.#finish(running);
  }

  /** @throws OptionsError for a test without a hosted browser */
  of(test: NodeTest): HostedTest {
    const { values } = this.#running.get(test) ?? this.#subtests.get(test) ?? {};
    if (!values) throw new OptionsError('hostedBrowser', `"${test.name}" has no hosted browser: ${USAGE}`);
    return values;
  }

  /** The values of the running test. @throws OptionsError when no test runs, or several do */
  get current(): HostedTest {
    const running = [...this.#running.values()].filter(({ test, values }) => values && !isOver(test));
    const [only, ...others] = running;
    if (!only?.values) throw new OptionsError('hostedBrowser', `No test with a hosted browser runs now: ${USAGE}`);
    if (others.length > 0) {
      const names = running.map(({ test }) => `"${test.name}"`).join(', ');
      throw new OptionsError(
        'hostedBrowser',
        `Several tests run at the same time (${names}), and each has its own page: use \`hosted.of(t).page\`, with the \`t\` of the test.`,
      );
    }
    return only.values;
  }

  /** Before Node 24, a test that skips itself ends without its hooks. */
  async #endFinished(all: boolean): Promise<void> {
    const over = [...this.#running.values()].filter(({ test }) => all || isOver(test));
    for (const running of over) await this.#finish(running, running.test.error ? undefined : SKIPPED);
  }

  async #finish(running: Running, outcome = outcomeOf(running.test)): Promise<void> {
    const { test, run } = running;
    if (!this.#running.delete(test) || !this.#worker) return;
    const { worker } = await this.#worker;
    const ended = await worker.end(run, outcome);
    if (ended && !outcome.ok) reportFailure(test, ended);
  }
}

/** The outcome of a test that skips itself. */
const SKIPPED = { status: 'skipped', ok: true } as const;

const USAGE = 'call `hostedBrowser()` at the top of its file or in its suite, and use it only inside tests.';

function isOver({ signal }: NodeTest): boolean {
  return signal.aborted;
}

/** Adds to a failed test's error which browser it had, and whether that was lost. */
function reportFailure(test: NodeTest, ended: EndedTest): void {
  const { error } = ended;
  const [session = '', ...others] = failureNotes(ended);
  test.diagnostic(error ? `${error.message} (${session})` : session);
  for (const other of others) test.diagnostic(other);
  const text = failureText(ended);
  const failure = test.error;
  // After a timeout, the cause is a string.
  if (typeof failure?.cause === 'string')
    failure.cause = `${error ? `${error.message}\n\n` : ''}${failure.cause}\n${text}`;
  else addToMessage(failure?.cause, text, error?.message);
}

const KEY = Symbol.for('poolwright.node-test');

/** One per process, even if this module is loaded twice: by `require` and by `import`. */
export function testProcess(): TestProcess {
  const place = globalThis as { [KEY]?: TestProcess };
  place[KEY] ??= new TestProcess();
  return place[KEY];
}

const NODE_TEST = {
  name: 'node-test',
  hint: 'run `node --require poolwright/node-test --test` (`--import` does not reach the runner itself)',
} as const;

/** A worker, and the function that closes it. */
interface OpenWorker {
  worker: RunnerWorker;
  /** Gives the browser back. Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens the worker of this process. A process that no runner started (`node a.test.js`, `--test-isolation=none`)
 * becomes a separate run, which ends with it.
 * @throws OptionsError when the run was started without poolwright
 */
async function openWorker(): Promise<OpenWorker> {
  // Loaded here, because test files without a browser do not need this code.
  const [{ connectToBroker }, { sharedBrokerOf }, { RunnerWorker }, { runOfWorker }] = await Promise.all([
    import('../../broker/rpc/client.ts'),
    import('../../broker/rpc/shared-broker.ts'),
    import('../shared/runner-worker.ts'),
    import('../shared/worker-settings.ts'),
  ]);
  if (!sharedBrokerOf(process.env) && process.env.NODE_TEST_CONTEXT === undefined) await startOwnRun();
  const { address } = runOfWorker(NODE_TEST);
  // Before version 24, Node does not number its processes. The number is reserved while this connection is open.
  const slotConnection = await connectToBroker(address, 'worker');
  const index = slotConnection.slot ?? 0;
  const worker = new RunnerWorker(NODE_TEST, { parallelIndex: index, workerIndex: index });
  const close = async () => {
    await worker.close();
    slotConnection.close();
  };
  return { worker, close };
}

async function startOwnRun(): Promise<void> {
  const { startRunnerRun } = await import('../shared/runner-run.ts');
  const { shard } = runnerFlags(process.execArgv);
  const run = await startRunnerRun({ runner: 'node-test', root: process.cwd(), workers: 1, shard });
  process.once('beforeExit', () => {
    run.finish().catch((error: unknown) => {
      void print(String(error));
      process.exitCode = 1;
    });
  });
}
