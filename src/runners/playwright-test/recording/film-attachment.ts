import { rm, writeFile } from 'node:fs/promises';
import type { TestInfo } from '@playwright/test';
import type { RecordSink } from '../../../clients/shared/test-use.ts';
import type { PageFilm } from '../../../film/film.ts';
import { filmHtml } from '../../../film/film-page.ts';
import type { TestFacts } from '../../../record/test-record.ts';
import { filmedTest } from '../../shared/filmed-test.ts';

/** Attaches the film of a test's pages to it. */
export async function attachFilm(
  testInfo: TestInfo,
  facts: TestFacts,
  pages: readonly PageFilm[],
  sink: RecordSink,
): Promise<void> {
  const path = testInfo.outputPath('film.html');
  const html = await filmHtml(filmedTest(facts, pages), (texts) => sink.redact({ texts, secrets: [] }));
  await writeFile(path, html);
  // Playwright copies it.
  await testInfo.attach('film', { path, contentType: 'text/html' });
  await rm(path, { force: true });
}
