import { relative } from 'node:path';
import type { TestRecord } from '../../record/run-record.ts';
import type { TestStart } from '../shared/test-run.ts';
import type { MochaTest } from './mocha-api.ts';
import { pauseTimeout } from './without-timeout.ts';

/** Start data of a test. Mocha does not report lines. */
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
    allow: () => pauseTimeout(test),
  };
}

/** The outcome of a test, in its last hook. Without a state, it failed in a hook or will be retried. */
export function outcomeOf(test: MochaTest): Pick<TestRecord, 'ok' | 'status'> {
  if (test.isPassed()) return { status: 'passed', ok: true };
  if (test.isPending()) return { status: 'skipped', ok: true };
  return { status: test.err?.code === 'ERR_MOCHA_TIMEOUT' ? 'timedOut' : 'failed', ok: false };
}
