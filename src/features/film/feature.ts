import { relative } from 'node:path';
import type { Screencast } from '../../cdp/screencast/screencast.ts';
import { dateNow } from '../../common/clock.ts';
import type { TestFacts } from '../../record/test-record.ts';
import type { FeatureConnection, FeatureSetting, FeatureTest, FeatureWorker, WorkerFeature } from '../feature.ts';
import { Film, type PageFilm } from './film.ts';
import type { FilmedTest } from './film-page.ts';

/** Gives tests a film of their pages: those that fail, or all. */
class Films implements WorkerFeature {
  readonly #broker: FeatureWorker['broker'];
  readonly #setting: FeatureSetting;
  readonly #films = new WeakMap<Screencast, Film>();
  /** The end of a failed test's pages, before a person may have been let into them. */
  readonly #failures = new WeakMap<FeatureTest, { at: number; pages: PageFilm[] }>();

  constructor({ broker }: FeatureWorker, setting: FeatureSetting) {
    this.#broker = broker;
    this.#setting = setting;
  }

  opened({ screencast, note }: FeatureConnection): void {
    if (!screencast.isConnected) note('`film` has no effect through a relay');
    const film = new Film(this.#setting);
    this.#films.set(screencast, film);
    screencast.start(film);
  }

  async testFailed(test: FeatureTest): Promise<void> {
    if (test.connections().length === 0) return;
    // Without it, its film would lack the moment that matters.
    await Film.last();
    if (!this.#failures.has(test)) this.#failures.set(test, { at: dateNow(), pages: this.#pagesOf(test, false) });
  }

  async testEnded(test: FeatureTest, facts: TestFacts): Promise<void> {
    const failure = this.#failures.get(test);
    const wasHeld = failure && test.fields.holds.some(({ startedAt }) => startedAt.getTime() >= failure.at);
    const pages = wasHeld ? failure.pages : this.#pagesOf(test, facts.ok);
    if (pages.length === 0) return;
    // Loaded here, because few tests have one.
    const { filmHtml } = await import('./film-page.ts');
    const redact = (texts: string[]) => this.#broker.redact({ texts, secrets: [] });
    await test.keep('film', await filmHtml(filmedTest(facts, pages), redact));
  }

  #pagesOf(test: FeatureTest, ok: boolean): PageFilm[] {
    const shown = { from: test.startedAt.getTime(), ok };
    return test.connections().flatMap(({ screencast }) => this.#films.get(screencast)?.of(shown) ?? []);
  }
}

export const start = (worker: FeatureWorker, setting: FeatureSetting): WorkerFeature => new Films(worker, setting);

/** What a film's page shows of its test. */
function filmedTest(test: TestFacts, pages: readonly PageFilm[]): FilmedTest {
  const { titles, file, rootDir, line, project, retry, status, ok, error = '', startedAt } = test;
  const place = `${relative(rootDir, file).replaceAll('\\', '/')}${line > 0 ? `:${line}` : ''}`;
  return {
    title: titles.join(' › '),
    facts: [status === 'timedOut' ? 'timed out' : '', place, project, retry > 0 ? `retry ${retry}` : ''].filter(
      (fact) => fact !== '',
    ),
    failed: !ok,
    error: ok ? '' : error,
    from: startedAt.getTime(),
    pages,
  };
}
