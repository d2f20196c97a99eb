import { relative } from 'node:path';
import type { TestRecord } from '../../../record/run-record.ts';
import type { TestStart } from '../test-run.ts';

/** As much of Node's `TestContext` as is used here. */
export interface NodeTest {
  readonly name: string;
  /** With the names of what it is in: `suite > test`. */
  readonly fullName: string;
  /** Not in every Node. */
  readonly filePath?: string | undefined;
  /** In `afterEach`: whether the test has passed, and why not. */
  readonly passed?: boolean;
  readonly error?: NodeTestError | null;
  readonly signal: AbortSignal;
  diagnostic(message: string): void;
}

/** What Node wraps around what a test threw. */
interface NodeTestError {
  cause?: unknown;
  failureType?: string;
}

const BETWEEN = ' > ';

/** A test as it begins. Node tells neither its line nor its timeout. */
export function startOf({ fullName, filePath }: NodeTest): TestStart {
  const file = filePath ?? process.argv[1] ?? '';
  const id = `${relative('', file).replaceAll('\\', '/')}#${fullName}`;
  return { id, titles: fullName.split(BETWEEN), file, line: 0, project: '', retry: 0, timeout: 0 };
}

/** What became of a test, in its last hook. */
export function outcomeOf({ passed, error }: NodeTest): Pick<TestRecord, 'ok' | 'status'> {
  if (passed || !error) return { status: 'passed', ok: true };
  const { failureType } = error;
  if (failureType === 'testTimeoutFailure') return { status: 'timedOut', ok: false };
  const isCancelled = failureType === 'cancelledByParent' || failureType === 'testAborted';
  return { status: isCancelled ? 'interrupted' : 'failed', ok: false };
}

/** Whether a test is a subtest of the other one. */
export function isWithin(test: NodeTest, other: NodeTest): boolean {
  return test.fullName.startsWith(`${other.fullName}${BETWEEN}`);
}
