import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { BrowserContext, Page } from 'puppeteer-core';
import type { PuppeteerConnection } from '../../../clients/puppeteer/connection.ts';
import type { RecordedConnection } from '../../../clients/shared/connection/leased-connection.ts';
import { errorMessage } from '../../../common/error-message.ts';
import type { TestFacts } from '../../../record/test-record.ts';
import { LIMIT_MS, LIST_MS, MAX_PAGES } from './bounds.ts';
import { collectPage } from './page-evidence.ts';
import { PageLog } from './page-log.ts';
import { TimeLimit } from './time-limit.ts';

/** A failed test whose pages are still open. */
export interface FailedTest {
  test: Pick<TestFacts, 'titles' | 'file' | 'retry'>;
  /** The browser that it used last. */
  connection: RecordedConnection;
  context: BrowserContext | null;
  /** Contexts of tests that run at the same time. */
  others: readonly BrowserContext[];
  /** Its console begins here, in ms since the epoch. */
  since: number;
}

/** What the evidence of a worker's tests needs. */
export interface EvidenceOptions {
  /** The runner's root directory. */
  root: string;
  /** Has one directory per failed test. */
  directory: string;
  /** Masks secrets. @param secrets in addition to those that the broker knows */
  redact(texts: string[], secrets: string[]): Promise<string[]>;
  /** Called when nothing could be written. */
  onFailure(text: string): void;
}

/** A secret of an address is at least so long: shorter parts of it are names. */
const MIN_TOKEN = 16;

/** Keeps what the pages of failed tests look like: screenshot, HTML, console and address. */
export class Evidence {
  readonly #options: EvidenceOptions;
  readonly #logs = new WeakMap<RecordedConnection, PageLog>();

  constructor(options: EvidenceOptions) {
    this.#options = options;
  }

  /** Records the consoles of a browser's pages from now on. */
  follow(connection: PuppeteerConnection): void {
    this.#logs.set(connection, new PageLog(connection.browser));
  }

  /**
   * Returns the directory of the evidence, relative to the root, with `/`; null when the test has no open page. Takes
   * {@link LIMIT_MS} at most. Never rejects.
   */
  async collect(failed: FailedTest): Promise<string | null> {
    const { connection, test } = failed;
    const log = this.#logs.get(connection);
    const pages = log ? pagesOf(log, failed) : [];
    if (!log || pages.length === 0) return null;
    const limit = new TimeLimit(LIMIT_MS - LIST_MS);
    const { root, redact, onFailure } = this.#options;
    const directory = join(this.#options.directory, nameOf(test.titles));
    const secrets = secretsOf(connection.lease);
    try {
      await mkdir(directory, { recursive: true });
      const kept = await Promise.all(
        pages.slice(0, MAX_PAGES).map((page, n) =>
          collectPage({
            page,
            lines: log.linesOf(page, failed.since),
            directory,
            name: `page-${n + 1}`,
            isLost: connection.lost() !== null,
            limit,
            redact: (texts) => redact(texts, secrets),
          }),
        ),
      );
      const list = {
        test: test.titles.join(' › '),
        file: withSlashes(relative(root, test.file)),
        retry: test.retry,
        sessionId: connection.lease.sessionId,
        tookMs: limit.passedMs,
        pages: kept,
        morePages: Math.max(0, pages.length - MAX_PAGES),
      };
      await writeFile(join(directory, 'pages.json'), `${JSON.stringify(list, null, 2)}\n`);
      return withSlashes(relative(root, directory));
    } catch (error) {
      onFailure(`the evidence of a failed test could not be written: ${errorMessage(error)}`);
      return null;
    }
  }
}

/** The test's own pages first. Pages that it opened in other contexts, and shared ones, are its pages, too. */
function pagesOf({ pages }: PageLog, { context, others }: FailedTest): Page[] {
  const isOwn = (page: Page) => page.browserContext() === context;
  const shared = pages.filter((page) => !isOwn(page) && !others.includes(page.browserContext()));
  return [...pages.filter(isOwn), ...shared];
}

/** Unique, because runners may have several tests with the same names. */
function nameOf(titles: readonly string[]): string {
  const words =
    titles
      .join(' ')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const slug = [...words.join('-')].slice(0, 50).join('').replace(/-$/, '');
  return `${slug || 'test'}-${randomBytes(3).toString('hex')}`;
}

/** The CDP address, and what it may have as its token. */
function secretsOf({ cdpUrl, sessionId }: RecordedConnection['lease']): string[] {
  const parts = cdpUrl.split(/[/?&=#]/).filter((part) => part.length >= MIN_TOKEN && part !== sessionId);
  const { POOLWRIGHT_API_KEY: key = '' } = process.env;
  return [cdpUrl, key, ...parts.filter((part) => !cdpUrl.includes(`://${part}`))];
}

function withSlashes(path: string): string {
  return path.replaceAll('\\', '/');
}
