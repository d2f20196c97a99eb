import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { errorMessage } from '../../common/error-message.ts';
import { addressSecrets } from '../../common/text/shown-fields.ts';
import type { FeatureConnection, FeatureTest, FeatureWorker, WorkerFeature } from '../feature.ts';
import { LIMIT_MS, LIST_MS, MAX_PAGES, TimeLimit } from './bounds.ts';
import { collectPage } from './page-evidence.ts';
import { PageLog } from './page-log.ts';

export const start = ({ broker }: FeatureWorker): WorkerFeature => new Evidence(broker);

/** Keeps what the pages of failed tests look like, for Puppeteer: screenshot, HTML, console and address. */
class Evidence implements WorkerFeature {
  readonly #broker: FeatureWorker['broker'];
  readonly #logs = new WeakMap<FeatureConnection, PageLog>();

  constructor(broker: FeatureWorker['broker']) {
    this.#broker = broker;
  }

  /** Records the consoles of a browser's pages from now on. */
  opened(connection: FeatureConnection): void {
    this.#logs.set(connection, new PageLog(connection.browser as Browser));
  }

  /** Takes {@link LIMIT_MS} at most. Does nothing for a test without an open page. */
  async testFailed(test: FeatureTest): Promise<void> {
    const connection = test.connections().at(-1);
    const log = connection && this.#logs.get(connection);
    const pages = log ? pagesOf(log, test) : [];
    if (!log || pages.length === 0) return;
    const limit = new TimeLimit(LIMIT_MS - LIST_MS);
    const { root } = test;
    const directory = join(test.directory, 'evidence', nameOf(test.titles));
    const secrets = secretsOf(connection.lease);
    try {
      await mkdir(directory, { recursive: true });
      const kept = await Promise.all(
        pages.slice(0, MAX_PAGES).map((page, n) =>
          collectPage({
            page,
            lines: log.linesOf(page, test.since),
            directory,
            name: `page-${n + 1}`,
            isLost: connection.lost() !== null,
            limit,
            redact: (texts) => this.#broker.redact({ texts, secrets }),
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
      test.fields.evidence = withSlashes(relative(root, directory));
      test.notes.push(`evidence: ${test.fields.evidence}`);
    } catch (error) {
      const text = `the evidence of a failed test could not be written: ${errorMessage(error)}`;
      this.#broker.say({ text }).catch(() => undefined);
    }
  }
}

/** The test's own pages first. Pages that it opened in other contexts, and shared ones, are its pages, too. */
function pagesOf({ pages }: PageLog, { context, others }: FeatureTest): Page[] {
  const [own, theirs] = [context(), others()];
  const isOwn = (page: Page) => page.browserContext() === own;
  const shared = pages.filter((page) => !isOwn(page) && !theirs.includes(page.browserContext()));
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

/** The ID of the session is none, even where the address has it. */
function secretsOf({ cdpUrl, sessionId }: FeatureConnection['lease']): string[] {
  const { POOLWRIGHT_API_KEY: key = '' } = process.env;
  return [key, ...addressSecrets(cdpUrl).filter((secret) => secret !== sessionId)];
}

function withSlashes(path: string): string {
  return path.replaceAll('\\', '/');
}
