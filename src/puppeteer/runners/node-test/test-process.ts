import { OptionsError } from '../../../errors.ts';
import { addToMessage } from '../add-to-message.ts';
import type { Scope } from '../scope.ts';
import { type Ended, sessionNote, type TestRun } from '../test-run.ts';
import type { HostedTest } from './hosted-test.ts';
import { isWithin, type NodeTest, outcomeOf, startOf } from './test-facts.ts';
import { type OpenWorker, openWorker } from './worker-process.ts';

/** A test with a hosted browser. */
interface Running {
  test: NodeTest;
  scope: Scope;
  run: TestRun;
  /** Null until the browser has come. */
  served: HostedTest | null;
  /** How many `hostedBrowser()` it is under: the last of their hooks ends it. */
  hooks: number;
}

/** The hosted browser of one process that runs tests of Node's, and the tests that run there. */
class TestProcess {
  #worker: Promise<OpenWorker> | null = null;
  /** How many suites with `hostedBrowser()` are not over. */
  #suites = 0;
  readonly #running = new Map<NodeTest, Running>();
  /** Subtests, with the test that they are a part of. */
  readonly #parts = new WeakMap<NodeTest, Running>();

  /** A suite with hosted browsers is there. */
  enter(): void {
    this.#suites += 1;
  }

  /** It is over; the last one gives the browser back. */
  async leave(): Promise<void> {
    this.#suites -= 1;
    if (this.#suites > 0) return;
    await this.#endThoseOver(true);
    const worker = this.#worker;
    this.#worker = null;
    await (await worker?.catch(() => null))?.close();
  }

  /** A test begins, or a part of one. @throws LeaseError, ServiceError, OptionsError when it gets no browser */
  async begin(test: NodeTest): Promise<void> {
    const known = this.#running.get(test) ?? this.#parts.get(test);
    if (known) {
      if (known.test === test) known.hooks += 1;
      return;
    }
    await this.#endThoseOver(false);
    const whole = [...this.#running.values()].find(({ test: other }) => isWithin(test, other));
    if (whole) {
      this.#parts.set(test, whole);
      return;
    }
    this.#worker ??= openWorker();
    const { worker } = await this.#worker;
    const scope = worker.openScope(0);
    const run = worker.begin(startOf(test), scope);
    const running: Running = { test, scope, run, served: null, hooks: 1 };
    this.#running.set(test, running);
    const { page, ...served } = await run.serve();
    running.served = { ...served, page: await page() };
  }

  /** A hook behind a test. Never rejects. */
  async end(test: NodeTest): Promise<void> {
    const running = this.#running.get(test);
    if (!running) return;
    running.hooks -= 1;
    if (running.hooks === 0) await this.#finish(running);
  }

  /** @throws OptionsError for a test that has none */
  of(test: NodeTest): HostedTest {
    const { served } = this.#running.get(test) ?? this.#parts.get(test) ?? {};
    if (!served) throw new OptionsError('hostedBrowser', `"${test.name}" has no hosted browser: ${WHERE}`);
    return served;
  }

  /** What the one test has that runs now. @throws OptionsError when there is none, or several are */
  get present(): HostedTest {
    const running = [...this.#running.values()].filter(({ test, served }) => served && !isOver(test));
    const [only, ...others] = running;
    if (!only?.served) throw new OptionsError('hostedBrowser', `No test with a hosted browser runs now: ${WHERE}`);
    if (others.length > 0) {
      const names = running.map(({ test }) => `"${test.name}"`).join(', ');
      throw new OptionsError(
        'hostedBrowser',
        `Several tests run at once (${names}), each with a page of its own: write \`hosted.of(t).page\`, with the \`t\` of the test.`,
      );
    }
    return only.served;
  }

  /** Before Node 24, a test that skips itself ends without its hooks. */
  async #endThoseOver(all: boolean): Promise<void> {
    const over = [...this.#running.values()].filter(({ test }) => all || isOver(test));
    for (const running of over) await this.#finish(running, running.test.error ? undefined : SKIPPED);
  }

  async #finish(running: Running, outcome = outcomeOf(running.test)): Promise<void> {
    const { test, scope, run } = running;
    if (!this.#running.delete(test) || !this.#worker) return;
    const { worker } = await this.#worker;
    await scope.close();
    const ended = await worker.end(run, outcome);
    if (ended && !outcome.ok) tellOf(test, ended);
  }
}

/** Of a test that skips itself. */
const SKIPPED = { status: 'skipped', ok: true } as const;

const WHERE = 'call `hostedBrowser()` at the top of its file, or in the suite around it, and read from it in tests.';

function isOver({ signal }: NodeTest): boolean {
  return signal.aborted;
}

/** A failed test says which browser it had, and what became of it. */
function tellOf(test: NodeTest, { attachment, error }: Ended): void {
  const note = sessionNote(attachment);
  test.diagnostic(error ? `${error.message} (${note})` : note);
  const text = error ? `${error.message}\n(${note})` : `(${note})`;
  const failure = test.error;
  // Of a test that took too long it is a text.
  if (typeof failure?.cause === 'string') failure.cause = `${failure.cause}\n${text}`;
  else addToMessage(failure?.cause, text);
}

const KEY = Symbol.for('poolwright.node-test');

/** One a process, however often this module is loaded there: once by `require`, once by `import`. */
export function testProcess(): TestProcess {
  const place = globalThis as { [KEY]?: TestProcess };
  place[KEY] ??= new TestProcess();
  return place[KEY];
}
