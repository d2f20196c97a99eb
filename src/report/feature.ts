import type { FullConfig, Suite, TestCase, TestResult, TestStep } from '@playwright/test/reporter';
import type { BrokerConnection } from '../broker/rpc/client.ts';
import type { FigureRow } from '../record/figures.ts';
import type { RunRecord } from '../record/run-record.ts';

/** A suite before Playwright splits it into shards, which it allows a reporter to do instead (since 1.62). */
export interface WholeSuite {
  /** The run's config. */
  config: FullConfig;
  /** All tests of the run, before they are split. */
  suite: Suite;
  /** What Playwright lets a reporter do. */
  testRun: {
    /** @throws Error if another reporter has called it */
    skipSharding(): void;
    /** Removes tests from the run. */
    exclude(target: TestCase | Suite): void;
    /** Whether its tests run in order or in parallel. Since 1.65. */
    mode?(suite: Suite): string;
  };
}

/** What the reporter passes on. */
export interface ReporterFeature {
  /** Before the tests of other shards are left out. @throws OptionsError, before a browser is requested */
  preprocess?(whole: WholeSuite): Promise<void>;
  suiteBegan?(config: FullConfig, suite: Suite): void;
  /** Called again with the connection to a broker that replaces a dead one. */
  connected?(connection: Pick<BrokerConnection, 'ask'>): void;
  began?(test: TestCase, result: TestResult): void;
  stepBegan?(result: TestResult, step: TestStep): void;
  stepEnded?(result: TestResult, step: TestStep): void;
  ended(result: TestResult, test: TestCase): void;
  /** Adds to the record before it is written. */
  complete?(record: RunRecord): Promise<RunRecord>;
  /** The run has ended. */
  close(): void | Promise<void>;
}

export interface MergedRecords {
  records: readonly RunRecord[];
  /** Of each record, the file that it was read from. */
  files: readonly string[];
  /** Where the merged record is written. */
  directory: string;
}

/** What a feature does when runs are merged. */
export interface MergeFeature {
  /** Returns the problems of the records, one line each, by which `--strict` fails. */
  problems(records: readonly RunRecord[]): string[];
  /** More figures of summary and timeline. */
  figures(records: readonly RunRecord[]): FigureRow[];
  /** Commands `report <name> [file]`, each a table of a record. */
  tables: readonly RecordTable[];
  /** Writes more files into the directory. Returns their paths. */
  write(merged: MergedRecords): Promise<string[]>;
}

export interface RecordTable {
  name: string;
  description: string;
  columns: readonly string[];
  /** Empty: the record does not have what it needs. */
  rows(record: RunRecord): Record<string, unknown>[];
  /** Below an empty table: what to do. */
  why: string;
}
