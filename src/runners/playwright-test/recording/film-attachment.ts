import { rm, writeFile } from 'node:fs/promises';
import type { TestInfo } from '@playwright/test';
import type { PageFilm } from '../../../film/film.ts';
import { filmHtml } from '../../../film/film-page.ts';
import type { TestFacts } from '../../../record/test-record.ts';
import { filmedTest } from '../../shared/filmed-test.ts';

/** Attaches the film of a test's pages to it. */
export async function attachFilm(testInfo: TestInfo, facts: TestFacts, pages: readonly PageFilm[]): Promise<void> {
  const path = testInfo.outputPath('film.html');
  await writeFile(path, filmHtml(filmedTest(facts, pages)));
  // Playwright copies it.
  await testInfo.attach('film', { path, contentType: 'text/html' });
  await rm(path, { force: true });
}
