import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageFilm } from '../../film/film.ts';
import { filmName } from '../../film/film-name.ts';
import { filmHtml } from '../../film/film-page.ts';
import type { TestFacts } from '../../record/test-record.ts';
import { filmedTest } from './filmed-test.ts';
import { FILM_DIRECTORY } from './worker-settings.ts';

/** Writes the film of a test's pages. */
export async function writeFilm(test: TestFacts, pages: readonly PageFilm[]): Promise<void> {
  const directory = join(test.rootDir, FILM_DIRECTORY);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, filmName(test.titles, test.id, test.retry)), filmHtml(filmedTest(test, pages)));
}
