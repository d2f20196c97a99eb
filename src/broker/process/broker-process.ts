import type { ChildProcess } from 'node:child_process';
import * as v from 'valibot';
import { withoutStack } from '../../common/error-message.ts';
import { firstJsonLine } from '../../common/json-line.ts';
import { LeaseError, PoolwrightError } from '../../errors.ts';
import { fromWire } from '../rpc/wire-error.ts';
import { endProcess } from './child-process.ts';
import type { BrokerConfig } from './config.ts';
import { brokerReady } from './ready.ts';

/** A broker's process, from the view of the process that starts it. */

/** Deadline for the end of a run, in ms: every end confirmed, or every attempt over. */
const EXIT_TIMEOUT_MS = 120_000;

/**
 * Sends a broker its configuration and waits until it can lease browsers, or has done its sweep. A broker that does not
 * respond in time hangs and is killed.
 * @throws PoolwrightError with the broker's reason; LeaseError `BROKER_FAILED` when it ended or did not respond
 */
export async function handshake(child: ChildProcess, config: BrokerConfig, timeoutMs: number): Promise<void> {
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new LeaseError('BROKER_FAILED', 'The poolwright broker could not be started.');
  stdin.on('error', () => undefined); // it may exit before it has read; its response shows this
  stdin.write(`${JSON.stringify(config)}\n`);
  let answer: unknown;
  try {
    answer = await firstJsonLine(stdout, timeoutMs);
  } catch (error) {
    child.kill('SIGKILL');
    const isLate = error instanceof PoolwrightError && error.code === 'TIMEOUT';
    const what = isLate
      ? `did not say within ${timeoutMs / 1000} s whether it can lend browsers`
      : 'ended before it could lend a browser; its message is above';
    throw new LeaseError('BROKER_FAILED', `The poolwright broker ${what}.`, { cause: error });
  }
  const ready = v.parse(brokerReady, answer);
  if (ready.ok) return;
  throw withoutStack(fromWire(ready.error));
}

/** Closes a broker's input and waits until it has given everything back and exited. */
export async function exit(child: ChildProcess): Promise<void> {
  await endProcess(child, EXIT_TIMEOUT_MS);
}
