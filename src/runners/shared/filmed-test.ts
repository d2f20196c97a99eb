import { relative } from 'node:path';
import type { PageFilm } from '../../film/film.ts';
import type { FilmedTest } from '../../film/film-page.ts';
import type { TestFacts } from '../../record/test-record.ts';

/** What a film's page shows of its test. */
export function filmedTest(test: TestFacts, pages: readonly PageFilm[]): FilmedTest {
  const { titles, file, rootDir, line, project, retry, status, ok, startedAt } = test;
  const place = `${relative(rootDir, file).replaceAll('\\', '/')}${line > 0 ? `:${line}` : ''}`;
  return {
    title: titles.join(' › '),
    facts: [status === 'timedOut' ? 'timed out' : '', place, project, retry > 0 ? `retry ${retry}` : ''].filter(
      (fact) => fact !== '',
    ),
    failed: !ok,
    from: startedAt.getTime(),
    pages,
  };
}
