import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PageFilm } from '../../film/film.ts';
import { filmName } from '../../film/film-name.ts';
import type { TestFacts } from '../../record/test-record.ts';
import { filmedTest } from './filmed-test.ts';

/** Where runners without attachments have films, below their root directory. */
export const FILM_DIRECTORY = join('test-results', 'poolwright', 'film');

/** Writes the film of a test's pages. */
export async function writeFilm(test: TestFacts, pages: readonly PageFilm[]): Promise<void> {
  // Loaded here, because few tests have one.
  const { filmHtml } = await import('../../film/film-page.ts');
  const directory = join(test.rootDir, FILM_DIRECTORY);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, filmName(test.titles, test.id, test.retry)), filmHtml(filmedTest(test, pages)));
}
