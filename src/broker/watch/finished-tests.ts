import type { TestRecord } from '../../record/run-record.ts';
import { keyOf } from '../../record/test-record.ts';
import type { RunOverview } from '../feature.ts';
import { type FinishedTest, listed } from './view.ts';

/** The tests of a run that have ended, in the order in which they became known. */
export class FinishedTests {
  readonly #masked: (text: string) => string;
  readonly #tests = new Map<string, FinishedTest>();
  /** How many of the run's tests were looked at. A test that used two sessions is among them twice. */
  #seen = 0;
  #passed = 0;
  #failed = 0;

  /** @param masked replaces secrets in a text */
  constructor(masked: (text: string) => string) {
    this.#masked = masked;
  }

  get counts(): { ended: number; passed: number; failed: number } {
    return { ended: this.#tests.size, passed: this.#passed, failed: this.#failed };
  }

  /** @param all every test of the run that has ended. None of them changes anymore. */
  update(all: ReturnType<RunOverview['tests']>): void {
    if (all.length === this.#seen) return;
    this.#seen = all.length;
    for (const { sessionId, test } of all) {
      const id = keyOf(test);
      if (this.#tests.has(id)) continue;
      this.#tests.set(id, this.#finished(id, sessionId, test));
      if (!test.ok) this.#failed += 1;
      else if (test.status !== 'skipped') this.#passed += 1;
    }
  }

  /** The tests to list, without the first `count`. */
  after(count: number): FinishedTest[] {
    return listed([...this.#tests.values()].slice(count));
  }

  #finished(id: string, sessionId: string, test: TestRecord): FinishedTest {
    const { title, project, parallelIndex, retry, status, ok, startedAt, endedAt } = test;
    return {
      id,
      title: this.#masked(title),
      project,
      slot: parallelIndex,
      status,
      ok,
      retry,
      startedAt: Date.parse(startedAt),
      endedAt: Date.parse(endedAt),
      sessionId,
      hasPicture: false,
    };
  }
}
