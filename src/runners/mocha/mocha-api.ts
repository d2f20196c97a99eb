/** The part of Mocha's public API that is used here. Mocha's own types would add their globals to every file. */

export interface MochaTest {
  title: string;
  /** Absolute path; undefined for a test without a file. */
  file?: string;
  err?: Error & { code?: unknown };
  /** Missing while it runs. */
  duration?: number;
  titlePath(): string[];
  fullTitle(): string;
  isPassed(): boolean;
  isPending(): boolean;
  currentRetry(): number;
  /** How often it may be retried. */
  retries(): number;
  /** ms; 0: none. */
  timeout(): number;
  timeout(ms: number): unknown;
}

type HookOf<Context> = (title: string, hook: (this: Context) => Promise<void>) => unknown;

export interface MochaSuite {
  /** Absolute path. */
  file?: string;
  suites: MochaSuite[];
  afterEach: HookOf<MochaContext>;
  afterAll: HookOf<MochaContext>;
}

/** `this` of a hook. */
export interface MochaContext {
  /** The hook itself. */
  test?: { parent?: MochaSuite };
  currentTest?: MochaTest;
  timeout(ms: number): unknown;
}

/** `this` of a global fixture, except in watch mode. */
export interface MochaRunner {
  suite: MochaSuite;
  /** How many tests of a suite will run. */
  grepTotal(suite: MochaSuite): number;
}
