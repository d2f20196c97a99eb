import type { Suite } from '@playwright/test/reporter';
import type { Piece } from './partition.ts';
import type { SuiteTest } from './suite-tests.ts';
import { compareTexts, inserted, type TestKey } from './test-tree.ts';

/** Tests of a suite that stay together. */
export interface SuitePiece extends Piece {
  tests: readonly SuiteTest[];
}

export interface PieceOptions {
  /** Playwright's mode of a suite, which it inherits (`testRun.mode()`); null: unknown, before 1.65. */
  mode: ((suite: Suite) => string) | null;
  expected(key: TestKey): number;
}

/**
 * Splits tests like Playwright's test groups, as far as its public API shows them: a file, unless its tests are
 * parallel; a serial or default suite in a parallel one; a parallel test. The order of the pieces is the same on every
 * machine.
 */
export function piecesOf(tests: readonly SuiteTest[], { mode, expected }: PieceOptions): SuitePiece[] {
  const groups = new Map<Suite | SuiteTest, SuiteTest[]>();
  for (const one of tests) inserted(groups, mode ? groupOf(one, mode) : one.file, () => []).push(one);
  const pieces = [...groups.values()].map((all) => ({ tests: all, key: pieceKey(all) }));
  return pieces
    .sort((one, other) => compareTexts(one.key, other.key))
    .map(({ tests: all }) => ({
      tests: all,
      project: all[0]?.key.project ?? '',
      // Even a test that is skipped takes a little.
      ms: all.reduce((sum, { test, key }) => sum + (test.expectedStatus === 'skipped' ? 1 : expected(key)), 0),
    }));
}

/** What a test stays together with: its file, a suite in it, or nothing else. */
function groupOf(one: SuiteTest, mode: (suite: Suite) => string): Suite | SuiteTest {
  const ancestors: Suite[] = [];
  for (let suite: Suite | undefined = one.test.parent; suite?.parent; suite = suite.parent) ancestors.unshift(suite);
  let isParallel = false;
  let inSequence: Suite | null = null;
  // Without a mode of its own, a suite has that of its parent; the root has 'default'.
  let inherited = 'default';
  for (const suite of ancestors) {
    const own = mode(suite);
    if (own === 'parallel') isParallel = true;
    else if (own !== inherited) inSequence ??= suite;
    inherited = own;
  }
  if (!isParallel) return one.file;
  return inSequence ?? one;
}

function pieceKey([first]: readonly SuiteTest[]): string {
  const { project = '', file = '', title = '' } = first?.id ?? {};
  return [project, file, title].join('\0');
}
