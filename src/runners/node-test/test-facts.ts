import { relative } from 'node:path';
import { errorMessage } from '../../common/error-message.ts';
import type { Outcome, TestStart } from '../shared/test-run.ts';

/** The part of Node's `TestContext` that is used here. */
export interface NodeTest {
  /** Its title. */
  readonly name: string;
  /** Includes the names of its suites: `suite > test`. */
  readonly fullName: string;
  /** Not available in every Node version. */
  readonly filePath?: string | undefined;
  /** In `afterEach`: whether the test has passed. */
  readonly passed?: boolean;
  /** In `afterEach`: why it has failed; null or absent: it has not. */
  readonly error?: NodeTestError | null;
  /** Fires when the test is cancelled, or its time is over. */
  readonly signal: AbortSignal;
  /** Adds a line to the report of the test. */
  diagnostic(message: string): void;
}

/** Node's wrapper around the error of a test. */
interface NodeTestError {
  /** What the test has thrown. */
  cause?: unknown;
  /** Node's name for the kind of failure: `testTimeoutFailure`, `cancelledByParent`, … */
  failureType?: string;
}

const BETWEEN = ' > ';

/** Start data of a test. Node reports neither its line nor its timeout. */
export function startOf({ fullName, filePath }: NodeTest): TestStart {
  const file = filePath ?? process.argv[1] ?? '';
  const id = `${relative('', file).replaceAll('\\', '/')}#${fullName}`;
  return { id, titles: fullName.split(BETWEEN), file, line: 0, project: '', retry: 0, timeout: 0 };
}

/** The outcome of a test, in its last hook. */
export function outcomeOf({ passed, error }: NodeTest): Outcome {
  if (passed || !error) return { status: 'passed', ok: true };
  const { failureType, cause } = error;
  if (failureType === 'testTimeoutFailure')
    return { status: 'timedOut', ok: false, error: errorMessage(cause ?? error) };
  const isCancelled = failureType === 'cancelledByParent' || failureType === 'testAborted';
  return { status: isCancelled ? 'interrupted' : 'failed', ok: false, error: errorMessage(cause ?? error) };
}

export function isWithin(test: NodeTest, other: NodeTest): boolean {
  return test.fullName.startsWith(`${other.fullName}${BETWEEN}`);
}
