import { readFileSync } from 'node:fs';
import type { FullConfig, FullProject, Suite, TestCase } from '@playwright/test/reporter';

/** How the tests of a file run, as far as its source shows. Playwright's own data is not public. */
export interface TestFile {
  /** Whether one of its tests may need a browser. */
  usesBrowser: boolean;
  /** Whether one worker certainly runs its tests in sequence. */
  inSequence: boolean;
  /** Whether each of its tests is certainly a separate group, which any worker may run. */
  oneByOne: boolean;
  /** Whether a failed test may prevent others from running. */
  isSerial: boolean;
  /** Whether this test certainly opens a context of its project's browser when it runs. */
  certainlyOpens(test: TestCase): boolean;
}

/** How many lines of a test are read. */
const MAX_TEST_LINES = 200;

/** If the file cannot be read, nothing is certain. */
export function testFile(file: Suite, project: FullProject, config: FullConfig): TestFile {
  const isParallel = config.fullyParallel || ('fullyParallel' in project && project.fullyParallel === true);
  const source = sourceOf(file);
  if (source === null)
    return { usesBrowser: true, inSequence: false, oneByOne: false, isSerial: true, certainlyOpens: () => false };
  const lines = source.split('\n');
  const eachOpensContext = !maySkip(source) && !sharesBrowser(source);
  return {
    usesBrowser: usesBrowser(source),
    inSequence: !isParallel && !/\bparallel\b/.test(source),
    oneByOne: isParallel && !/\bconfigure\b|\bserial\b|\bbeforeAll\b|\bafterAll\b/.test(source),
    isSerial: /\bserial\b/.test(source),
    certainlyOpens: ({ location }) => {
      if (!eachOpensContext || location.file !== file.location?.file) return false;
      const [line = '', ...rest] = lines.slice(location.line - 1, location.line - 1 + MAX_TEST_LINES);
      return opensContext([line.slice(location.column - 1), ...rest].join('\n'));
    },
  };
}

/**
 * Whether the tests of a file may need a browser. They certainly need none if the file imports `test` directly from
 * Playwright and contains no browser, context or page. Fixtures from other modules may need one.
 */
function usesBrowser(source: string): boolean {
  if (/\b(page|context|browser|hostedSession)\b/.test(source)) return true;
  const imports = source.matchAll(/\bfrom\s*['"]([^'"]+)['"]|\brequire\(\s*['"]([^'"]+)['"]/g);
  return [...imports].some(([, from, required]) => {
    const name = from ?? required ?? '';
    return name !== '@playwright/test' && !name.startsWith('node:');
  });
}

/** Whether something before a test may skip it: a condition function, or a hook. */
function maySkip(source: string): boolean {
  const byFunction = /\.(skip|fixme)\s*\(\s*(async\b|function\b|\(|\w+\s*=>)/;
  return (
    byFunction.test(source) || (/\bbefore(Each|All)\b/.test(source) && /\.(skip|fixme)\s*\(\s*[^\s'"`]/.test(source))
  );
}

/** Whether tests may share a browser that a hook opened, or use another browser than that of their project. */
function sharesBrowser(source: string): boolean {
  return /\bbeforeAll\b[^{]*\{[^}]*\bbrowser\b[^}]*\}[^)]*\)/.test(source) || /\bhosted\b['"]?\s*:/.test(source);
}

/** Whether the test that starts here uses a fixture that opens a context, or opens one itself. */
function opensContext(source: string): boolean {
  const call = /^[\w.]*\([\s\S]*?(?:\bfunction\b[^(]*\(\s*\{([^{}]*)\}|\(\s*\{([^{}]*)\}[^()]*\)\s*=>|=>)/.exec(source);
  const names = (call?.[1] ?? call?.[2] ?? '').split(',').map((each) => each.split(':')[0]?.trim());
  if (names.some((name) => name === 'page' || name === 'context' || name === 'hostedSession')) return true;
  const [own = ''] = source.slice(1).split(/^\s*test\b/m);
  return names.includes('browser') && /\bbrowser\s*\.\s*new(Page|Context)\s*\(/.test(own);
}

function sourceOf(file: Suite): string | null {
  try {
    return file.location ? readFileSync(file.location.file, 'utf8') : null;
  } catch {
    return null;
  }
}
