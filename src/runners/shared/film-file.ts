import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordSink } from '../../clients/shared/test-use.ts';
import type { PageFilm } from '../../film/film.ts';
import { filmName } from '../../film/film-name.ts';
import { filmHtml } from '../../film/film-page.ts';
import type { TestFacts } from '../../record/test-record.ts';
import { filmedTest } from './filmed-test.ts';
import { FILM_DIRECTORY } from './worker-settings.ts';

/** Writes the film of a test's pages. Returns the file's path, relative to the runner's root directory. */
export async function writeFilm(test: TestFacts, pages: readonly PageFilm[], sink: RecordSink): Promise<string> {
  const file = join(FILM_DIRECTORY, filmName(test.titles, test.id, test.retry));
  const html = await filmHtml(filmedTest(test, pages), (texts) => sink.redact({ texts, secrets: [] }));
  await mkdir(join(test.rootDir, FILM_DIRECTORY), { recursive: true });
  await writeFile(join(test.rootDir, file), html);
  return file;
}
