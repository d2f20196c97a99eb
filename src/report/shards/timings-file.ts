import { createHash } from 'node:crypto';
import * as z from 'zod';
import { errorMessage } from '../../common/error-message.ts';
import { describeIssues } from '../../common/validation.ts';
import { MAX_MS, MAX_WORKERS } from '../../record/bounds.ts';
import { count, text } from '../../record/fields.ts';
import { ByTest, inserted, type TestKey } from './test-tree.ts';

/**
 * `poolwright-timings.json`: how long tests take, by which shards are balanced. Published as
 * `schemas/timings.schema.json`. It contains no path of a machine and no time of day, so that it can be committed.
 */

/** How many durations are kept of each test. */
const KEPT = 5;
/** A later version may keep more. */
const MAX_KEPT = 100;

const workerCount = z.number().int().min(1).max(MAX_WORKERS);

/** The zod schema of `poolwright-timings.json`. */
export const timingsFile = z
  .object({
    schema: z.literal(1).describe('Version of this file; other versions may have other fields'),
    workers: workerCount.describe('Workers of each shard, or of the run, that was measured last'),
    projectWorkers: z.record(text, workerCount).default({}).describe('Workers of projects that have a limit'),
    browsers: count.optional().describe('How many browsers may run at once, for all shards together'),
    projects: z
      .record(text, z.record(text, z.record(text, z.array(z.number().int().min(0).max(MAX_MS)).min(1).max(MAX_KEPT))))
      .describe(
        'By project, file (relative to the config, with `/`) and `describe › test`: the last durations in ms with all retries, newest first. Their median counts',
      ),
  })
  .describe('How long the tests of a suite take, to balance its shards');

/** How long tests take. */
export interface Timings extends Workers {
  /** For all shards together; null: unknown. */
  browsers: number | null;
  tests: ByTest<readonly number[]>;
}

export interface Workers {
  workers: number;
  projectWorkers: Record<string, number>;
}

/** The timings in a file's text, or why it has none. */
export function parseTimings(content: string): { timings: Timings } | { why: string } {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    return { why: content.trim() === '' ? 'it is empty' : `it is not JSON (${errorMessage(error)})` };
  }
  const parsed = timingsFile.safeParse(value);
  if (!parsed.success) return { why: describeIssues(parsed.error, value, timingsFile)[0] ?? 'it is not valid' };
  const { workers, projectWorkers, browsers = null, projects } = parsed.data;
  return { timings: { workers, projectWorkers, browsers, tests: ByTest.of(projects) } };
}

/** The text of a file: one line for each test. */
export function timingsText({ workers, projectWorkers, browsers, tests }: Timings): string {
  const limits = {
    ...(Object.keys(projectWorkers).length > 0 && { projectWorkers }),
    ...(browsers !== null && { browsers }),
  };
  const json = JSON.stringify({ schema: 1, workers, ...limits, projects: tests.tree }, null, 2);
  // Titles have no line breaks in JSON: only lists of numbers match.
  return `${json.replace(/\[\n[\d,\s]+\]/g, (list) => JSON.stringify(JSON.parse(list)).replaceAll(',', ', '))}\n`;
}

/** Identifies timings, in records. */
export function hashOf(content: string): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}

/** Adds what was measured. @param measured durations in ms with all retries */
export function withMeasured(earlier: ByTest<readonly number[]>, measured: Iterable<[TestKey, number]>) {
  const tests = new ByTest<readonly number[]>();
  for (const [key, history] of earlier.entries()) tests.set(key, history.slice(0, KEPT));
  for (const [key, ms] of measured) tests.set(key, [rounded(ms), ...(tests.get(key) ?? [])].slice(0, KEPT));
  return tests;
}

/** Three digits: changes that do not matter make no difference. */
function rounded(ms: number): number {
  return Number(Math.round(Math.min(Math.max(ms, 0), MAX_MS)).toPrecision(3));
}

/** How long tests are expected to take, in ms. */
export class Expectation {
  readonly #tests: ByTest<readonly number[]>;
  readonly #byFile = new Map<string, number[]>();
  readonly #byProject = new Map<string, number[]>();
  readonly #all: number[] = [];

  constructor({ tests }: Pick<Timings, 'tests'>) {
    this.#tests = tests;
    for (const [{ project, file }, history] of tests.entries()) {
      const ms = lowerMedian(history);
      inserted(this.#byFile, `${project}\0${file}`, () => []).push(ms);
      inserted(this.#byProject, project, () => []).push(ms);
      this.#all.push(ms);
    }
    for (const list of [...this.#byFile.values(), ...this.#byProject.values(), this.#all])
      list.splice(0, list.length, lowerMedian(list));
  }

  knows(key: TestKey): boolean {
    return this.#tests.get(key) !== undefined;
  }

  /** The median of its durations; of a new test, the median of its file, project or suite. */
  of(key: TestKey): number {
    const durations = this.#tests.get(key);
    if (durations) return lowerMedian(durations);
    const { project, file } = key;
    const list = this.#byFile.get(`${project}\0${file}`) ?? this.#byProject.get(project) ?? this.#all;
    return list[0] ?? 0;
  }
}

/** One slow run of two does not count: of an even number, the lower one. Integers stay integers on every machine. */
function lowerMedian(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0;
}
