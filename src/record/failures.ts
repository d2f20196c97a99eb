import { errorMessage } from '../common/error-message.ts';
import { PoolwrightError, type PoolwrightErrorCode } from '../errors.ts';
import { recordedText } from './bounds.ts';
import type { RunFailure, SessionRecord } from './run-record.ts';

/** The next step after each kind of failure. docs/troubleshooting.md has more about each. */
export const NEXT_STEPS: Record<PoolwrightErrorCode, string> = {
  OPTIONS_INVALID: 'Correct the option or argument that the message names.',
  ENVIRONMENT_MISSING:
    'Set the variable or install the package that the message names, then run `npx poolwright doctor`.',
  REQUEST_INVALID: 'Correct the argument that the message names.',
  SERVICE_BAD_REQUEST: 'Correct the field that the message names, or update poolwright.',
  SERVICE_UNAUTHORIZED: 'Check POOLWRIGHT_API_KEY and POOLWRIGHT_BASE_URL, then run `npx poolwright doctor`.',
  SERVICE_OUT_OF_CREDIT: 'Top up the workspace; `npx poolwright account` shows the balance.',
  SERVICE_FORBIDDEN: 'Use a key or a plan that allows the request.',
  SERVICE_LIMIT_REACHED:
    'Run `npx poolwright sessions list`, and stop sessions that nobody needs; `npx poolwright sweep` stops those of dead runs.',
  SERVICE_NOT_FOUND:
    'Check the ID or name; `npx poolwright pools list` and `npx poolwright sessions list` show those that exist.',
  SERVICE_CONFLICT: 'Wait until the other use has ended, then repeat.',
  SERVICE_POOL_EMPTY: "Increase the pool's size, or set `fallback: 'session'`.",
  SERVICE_RATE_LIMITED: 'Wait, then repeat with fewer shards.',
  SERVICE_FAILED: 'Repeat; report it to the service if it happens again.',
  SERVICE_UNAVAILABLE: 'Repeat later, or choose another country.',
  SERVICE_START_TIMEOUT: 'Repeat, or choose another country or type.',
  SERVICE_UNREACHABLE: 'Check the network and POOLWRIGHT_BASE_URL, then run `npx poolwright doctor`.',
  SERVICE_BAD_RESPONSE: 'Check POOLWRIGHT_BASE_URL, or update poolwright.',
  ACQUIRE_TIMEOUT:
    'Use fewer workers, a larger pool or a longer `acquireTimeout`; `npx poolwright sessions list` shows who has the browsers.',
  CONNECT_FAILED: "Allow WebSockets to the browsers' host in the firewall or proxy, then run `npx poolwright doctor`.",
  BROWSER_LOST: 'Repeat the test (`retries`): the browser failed, not the test.',
  BROKER_FAILED: 'Read test-results/poolwright/broker.log.',
  BROKER_LOST: 'Run `npx poolwright sweep`, then repeat.',
  NOT_CARRIED: 'Add the rule that the message names to `exposeNetwork`.',
  BUDGET_EXCEEDED: 'Use less, or raise the `budget`.',
  EMULATOR_NO_CHROMIUM: 'Run `npx playwright install chromium`.',
  EMULATOR_PORT_IN_USE: 'Choose another port with `--port`.',
  EMULATOR_START_FAILED: 'Run `npx poolwright doctor`.',
  EMULATOR_ENDED: 'Repeat; the message has the reason.',
  TIMEOUT: 'Repeat; the message names what did not respond.',
  ABORTED: 'Repeat: the program that made the request has cancelled it.',
};

/** A failure as a record has it. An error of another kind comes from the broker. */
export function failureOf(error: unknown): RunFailure {
  return failure(error instanceof PoolwrightError ? error.code : 'BROKER_FAILED', errorMessage(error));
}

/** The browsers that tests have lost, each reason once. */
export function lostBrowsers(sessions: readonly Pick<SessionRecord, 'infrastructureFailures'>[]): RunFailure[] {
  const reasons = new Set(sessions.flatMap(({ infrastructureFailures }) => infrastructureFailures));
  return [...reasons].map((reason) => failure('BROWSER_LOST', reason));
}

export function failure(code: PoolwrightErrorCode, message: string): RunFailure {
  return { code, message: recordedText(message), next: NEXT_STEPS[code] };
}
