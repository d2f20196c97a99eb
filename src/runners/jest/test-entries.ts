import { createHash } from 'node:crypto';
import type { Circus } from '@jest/types';
import type { TestStart } from '../shared/test-run.ts';

/** Record data for the tests of one file. */
export class TestEntries {
  readonly #file: string;
  readonly #project: string;
  /**
   * Line of each test, by the error that Jest creates where it is declared. Reading its stack would drop its message.
   */
  readonly #lines = new WeakMap<object, number>();
  readonly #ids = new WeakMap<Circus.TestEntry, string>();
  /** How many tests have the same names. */
  readonly #nameCounts = new Map<string, number>();

  /** @param file absolute path */
  constructor(file: string, project: string) {
    this.#file = file;
    this.#project = project;
  }

  /** Call it synchronously where a test is declared. */
  recordLine(asyncError: object): void {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 30;
    const { stack = '' } = new Error('declared');
    Error.stackTraceLimit = stackTraceLimit;
    const frame = stack.split('\n').find((line) => line.includes(this.#file));
    const line = frame?.match(/:(\d+):\d+\)?$/)?.[1];
    if (line) this.#lines.set(asyncError, Number(line));
  }

  startOf(test: Circus.TestEntry, timeout: number): TestStart {
    const titles = titlesOf(test);
    return {
      id: this.#idOf(test, titles),
      titles,
      file: this.#file,
      line: this.#lines.get(test.asyncError) ?? 0,
      project: this.#project,
      retry: Math.max(0, test.invocations - 1),
      timeout,
    };
  }

  /** Jest has no test IDs. Made of file, project and names, plus a counter for tests with equal names. */
  #idOf(test: Circus.TestEntry, titles: readonly string[]): string {
    const known = this.#ids.get(test);
    if (known) return known;
    const names = JSON.stringify([this.#file, this.#project, ...titles]);
    const nth = this.#nameCounts.get(names) ?? 0;
    this.#nameCounts.set(names, nth + 1);
    const id = createHash('sha256').update(`${names}${nth}`).digest('hex').slice(0, 20);
    this.#ids.set(test, id);
    return id;
  }
}

/** How a test ended. For a test that is expected to fail, passing is an error. */
export function outcomeOf({ errors }: Circus.TestEntry) {
  const isLate = errors.some((error) => /\bExceeded timeout of \d+ ms\b/.test(textOf(error)));
  const status = errors.length === 0 ? 'passed' : isLate ? 'timedOut' : 'failed';
  return { status, ok: errors.length === 0, error: errors[0] && textOf(errors[0]) } as const;
}

function textOf(error: Circus.TestEntry['errors'][number]): string {
  const [thrown] = [error].flat();
  return typeof thrown === 'string' ? thrown : String(thrown?.message ?? '');
}

function titlesOf(test: Circus.TestEntry): string[] {
  const titles: string[] = [String(test.name)];
  for (let block: Circus.DescribeBlock | undefined = test.parent; block?.parent; block = block.parent)
    titles.unshift(String(block.name));
  return titles;
}
