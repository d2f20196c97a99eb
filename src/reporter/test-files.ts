import { readFileSync } from 'node:fs';
import type { FullConfig, FullProject, Suite, TestCase } from '@playwright/test/reporter';

/** What a file's source says of how its tests run. Playwright's own answer is not public. */
export interface TestFile {
  /** Whether one of its tests may need a browser. */
  usesBrowser: boolean;
  /** Whether one worker surely runs its tests in one go. */
  inOneGo: boolean;
  /** Whether each of its tests is surely a group of its own: what one worker runs in one go. */
  oneByOne: boolean;
  /** Whether a test that fails may keep others from running. */
  isSerial: boolean;
  /** Whether one of its tests surely opens a context of its project's browser, once it has begun. */
  surelyOpens(test: TestCase): boolean;
}

/** Lines of a test that are looked at. */
const LONGEST_TEST = 200;

/** Where the file cannot be read, nothing is sure. */
export function testFile(file: Suite, project: FullProject, config: FullConfig): TestFile {
  const isParallel = config.fullyParallel || ('fullyParallel' in project && project.fullyParallel === true);
  const source = sourceOf(file);
  if (source === null)
    return { usesBrowser: true, inOneGo: false, oneByOne: false, isSerial: true, surelyOpens: () => false };
  const lines = source.split('\n');
  const eachOpensItsOwn = !mayPassOver(source) && !sharesBrowser(source);
  return {
    usesBrowser: usesBrowser(source),
    inOneGo: !isParallel && !/\bparallel\b/.test(source),
    oneByOne: isParallel && !/\bconfigure\b|\bserial\b|\bbeforeAll\b|\bafterAll\b/.test(source),
    isSerial: /\bserial\b/.test(source),
    surelyOpens: ({ location }) => {
      if (!eachOpensItsOwn || location.file !== file.location?.file) return false;
      const [line = '', ...rest] = lines.slice(location.line - 1, location.line - 1 + LONGEST_TEST);
      return opensContext([line.slice(location.column - 1), ...rest].join('\n'));
    },
  };
}

/**
 * Whether the tests of a file may need a browser. Only a file that takes `test` straight from Playwright and never
 * mentions a browser, context or page surely needs none; fixtures from elsewhere may need one.
 */
function usesBrowser(source: string): boolean {
  if (/\b(page|context|browser|hostedSession)\b/.test(source)) return true;
  const imports = source.matchAll(/\bfrom\s*['"]([^'"]+)['"]|\brequire\(\s*['"]([^'"]+)['"]/g);
  return [...imports].some(([, from, required]) => {
    const name = from ?? required ?? '';
    return name !== '@playwright/test' && !name.startsWith('node:');
  });
}

/** Whether something before a test may skip it: a condition that is a function, or a hook. */
function mayPassOver(source: string): boolean {
  const byFunction = /\.(skip|fixme)\s*\(\s*(async\b|function\b|\(|\w+\s*=>)/;
  return (
    byFunction.test(source) || (/\bbefore(Each|All)\b/.test(source) && /\.(skip|fixme)\s*\(\s*[^\s'"`]/.test(source))
  );
}

/** Whether tests may share a browser that a hook opened, or have another one than their project's. */
function sharesBrowser(source: string): boolean {
  return /\bbeforeAll\b[^{]*\{[^}]*\bbrowser\b[^}]*\}[^)]*\)/.test(source) || /\bhosted\b['"]?\s*:/.test(source);
}

/** Whether a test that begins here names a fixture that opens a context, or opens one itself. */
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
