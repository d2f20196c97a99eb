import type { RunRecord } from '../../../src/record/run-record.ts';
import type { Consumer } from './consumer.ts';
import { runCommand, startCommand } from './run-command.ts';
import { jest } from './runner-kits.ts';

const [CLI = ''] = jest.args;

/** Runs Jest in a consumer's directory until it ends. */
export async function runJest(consumer: Consumer, args: readonly string[], env: Record<string, string>) {
  return await runCommand(consumer, [CLI, ...args], env);
}

export function startJest(consumer: Consumer, args: readonly string[], env: Record<string, string>) {
  return startCommand(consumer, [CLI, ...args], env);
}

/** Returns a jest.config with the preset and these keys. */
export function jestConfig(keys: object = {}): Record<string, string> {
  return { 'jest.config.json': JSON.stringify({ preset: 'poolwright/jest', ...keys }) };
}

/** Returns all tests of a record, as `file:line title`. */
export function testsOf({ sessions }: RunRecord) {
  return sessions
    .flatMap(({ sessionId, tests }) => tests.map((test) => ({ ...test, sessionId })))
    .sort((one, other) => one.startedAt.localeCompare(other.startedAt));
}
