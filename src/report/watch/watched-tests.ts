import type { TestCase, TestResult, TestStep } from '@playwright/test/reporter';
import type { Ask } from '../../broker/rpc/call-table.ts';
import type { BrokerConnection } from '../../broker/rpc/client.ts';
import type { RunningTests } from '../../broker/watch/calls.ts';
import { orderCallsOver } from '../../broker/watch/orders.ts';
import { keyOf } from '../../record/test-record.ts';

type RunningTest = RunningTests[number];

/** Changes within this time are sent together, in ms. */
const TOGETHER_MS = 250;
/** Steps that the user wrote or knows. The others are parts of Playwright. */
const SHOWN_STEPS: readonly string[] = ['expect', 'pw:api', 'test.step'];

/** Shows the running tests of Playwright and their steps to those who watch the run. Sends nothing otherwise. */
export class WatchedTests {
  /** Running tests with their open steps, innermost last. */
  readonly #running = new Map<TestResult, { test: RunningTest; steps: TestStep[] }>();
  /** The connection to the broker; null: none, or the run has ended. */
  #ask: Ask | null = null;
  #isWatched = false;
  #timer: NodeJS.Timeout | null = null;

  /** Reports over this connection until it is lost. */
  connected({ ask }: Pick<BrokerConnection, 'ask'>): void {
    this.#ask = ask;
    void this.#listen(ask);
  }

  began(test: TestCase, result: TestResult): void {
    const { parallelIndex: slot, retry, startTime } = result;
    if (slot < 0) return; // skipped without a worker
    const [, project = '', , ...titles] = test.titlePath();
    const id = keyOf({ id: test.id, retry });
    const running = { slot, id, title: titles.join(' › '), project, step: null, startedAt: startTime.getTime() };
    this.#running.set(result, { test: running, steps: [] });
    this.#changed();
  }

  stepBegan(result: TestResult, step: TestStep): void {
    if (!SHOWN_STEPS.includes(step.category)) return;
    this.#running.get(result)?.steps.push(step);
    this.#changed();
  }

  stepEnded(result: TestResult, step: TestStep): void {
    const running = this.#running.get(result);
    if (!running?.steps.includes(step)) return;
    running.steps = running.steps.filter((each) => each !== step);
    this.#changed();
  }

  ended(result: TestResult): void {
    if (this.#running.delete(result)) this.#changed();
  }

  close(): void {
    this.#ask = null;
    if (this.#timer) clearTimeout(this.#timer);
  }

  async #listen(ask: Ask): Promise<void> {
    const { watchOrders } = orderCallsOver(ask);
    let number = 0;
    try {
      while (this.#ask === ask) {
        const orders = await watchOrders({ slot: null, after: number });
        number = orders.number;
        this.#isWatched = orders.isWatched;
        this.#changed();
      }
    } catch {
      if (this.#ask === ask) this.#isWatched = false;
    }
  }

  #changed(): void {
    if (!this.#isWatched || !this.#ask || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#send().catch(() => undefined);
    }, TOGETHER_MS).unref();
  }

  async #send(): Promise<void> {
    const { watchedCallsOver } = await import('../../broker/watch/calls.ts');
    if (!this.#ask) return;
    const tests = [...this.#running.values()].map(({ test, steps }) => ({
      ...test,
      step: steps.at(-1)?.title ?? null,
    }));
    await watchedCallsOver(this.#ask).running({ tests });
  }
}
