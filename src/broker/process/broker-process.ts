import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import * as v from 'valibot';
import { firstJsonLine } from '../../common/json-line.ts';
import { withoutStack } from '../../common/text/without-stack.ts';
import { LeaseError, PoolwrightError } from '../../errors.ts';
import { fromWire } from '../rpc/wire-error.ts';
import type { BrokerConfig } from './config.ts';
import { brokerReady } from './ready.ts';

/** The process of a broker, as the one that starts it sees it. */

/** All browsers confirmed, or every try over: bound on the end of a run, in ms. */
const EXIT_TIMEOUT_MS = 120_000;
/**
 * Tells a broker what it is to do, and waits until it has done it, or can lend. One that does not answer in time hangs, and is killed.
 * @throws PoolwrightError what the broker found; LeaseError `BROKER_FAILED` when it ended, or did not answer
 */
export async function handshake(child: ChildProcess, config: BrokerConfig, timeoutMs: number): Promise<void> {
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new LeaseError('BROKER_FAILED', 'The poolwright broker could not be started.');
  stdin.on('error', () => undefined); // it may be gone before it has read: its answer tells
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

/** Whether a process has not exited. */
export function isThere(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** Closes a broker's input, and waits until it has given everything back and exited. */
export async function exit(child: ChildProcess): Promise<void> {
  if (!isThere(child)) return;
  const exited = once(child, 'exit');
  child.ref();
  child.stdin?.end();
  const timer = setTimeout(() => child.kill('SIGKILL'), EXIT_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}
