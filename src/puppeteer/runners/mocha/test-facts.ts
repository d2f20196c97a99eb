import { relative } from 'node:path';
import type { TestRecord } from '../../../record/run-record.ts';
import type { TestStart } from '../test-run.ts';
import type { MochaTest } from './mocha-api.ts';

/** A test as it begins. Mocha knows no line. */
export function startOf(test: MochaTest): TestStart {
  const file = test.file ?? '';
  return {
    id: `${relative('', file).replaceAll('\\', '/')}#${test.fullTitle()}`,
    titles: test.titlePath(),
    file,
    line: 0,
    project: '',
    retry: test.currentRetry(),
    timeout: test.timeout(),
  };
}

/** What became of a test, in its last hook. One that has no state failed in a hook, or is tried again. */
export function outcomeOf(test: MochaTest): Pick<TestRecord, 'ok' | 'status'> {
  if (test.isPassed()) return { status: 'passed', ok: true };
  if (test.isPending()) return { status: 'skipped', ok: true };
  return { status: test.err?.code === 'ERR_MOCHA_TIMEOUT' ? 'timedOut' : 'failed', ok: false };
}
