import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FullConfig, Reporter, Suite } from '@playwright/test/reporter';
import { runRecord } from '../broker/run-record.ts';
import { fetchAhead } from './fetch-ahead.ts';
import { printSummary, reportSummaryHere } from './summary.ts';

/**
 * Has browsers fetched for the workers that Playwright is starting, and prints the summary when the run is over. Added by `withHostedBrowsers`.
 */
export default class PoolwrightReporter implements Reporter {
  private folder: string | null = null;
  private startedAt = Date.now();

  constructor() {
    reportSummaryHere();
  }

  /** Playwright keeps its default terminal reporter when no other one prints. */
  printsToStdio(): boolean {
    return false;
  }

  onBegin(config: FullConfig, suite: Suite): void {
    void fetchAhead(config, suite);
    this.startedAt = Date.now();
    const outputDir = config.projects[0]?.outputDir;
    this.folder = outputDir === undefined ? null : join(outputDir, 'poolwright');
  }

  /** The global teardown has written the record by now. */
  onEnd(): void {
    if (this.folder === null) return;
    const record = readRecord(join(this.folder, 'run.json'));
    if (record && Date.parse(record.endedAt) >= this.startedAt) printSummary(record, this.folder);
  }
}

/** Null when there is none: no project of the run was hosted, or the run ended before its setup did. */
function readRecord(file: string) {
  try {
    return runRecord.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}
