import type { FinishedTest } from '../../broker/watch/view.ts';
import { element } from '../../common/page/dom.ts';
import type { Run } from './store.ts';
import { resultOf, testFacts } from './texts.ts';
import { Parts, setChildren, setLine, setText } from './update.ts';

/** The address of a test's last picture. */
export function pictureAddress(run: string, test: string): string {
  return `picture/${encodeURIComponent(run)}/${encodeURIComponent(test)}`;
}

/** The tests of a run that have ended: failed ones, then the others, which are collapsed. */
export class FinishedTests {
  readonly root: HTMLElement;
  readonly #failed = element('ul', { class: 'tests failed-tests' });
  readonly #others = element('ul', { class: 'tests' });
  readonly #summary = element('summary');
  readonly #details = element('details', {}, this.#summary, this.#others);
  readonly #cards = new Parts<string, Card>();
  #tests: Run['finished'] | null = null;

  constructor(
    private readonly run: string,
    private readonly onEnlarge: (run: string, test: string) => void,
  ) {
    this.root = element('div', { class: 'finished' }, element('h3', {}, 'Finished tests'), this.#failed, this.#details);
  }

  /** IDs in the order on the page. */
  get order(): string[] {
    return [...this.root.querySelectorAll<HTMLElement>('[data-test]')].flatMap(({ dataset }) => dataset.test ?? []);
  }

  update({ finished }: Run): void {
    if (this.#tests === finished) return;
    this.#tests = finished;
    const tests = [...finished.values()].toSorted((a, b) => b.endedAt - a.endedAt);
    this.root.hidden = tests.length === 0;
    const cards = this.#cards.sync(
      tests.map(({ id }) => id),
      (id) => new Card(id, () => this.onEnlarge(this.run, id)),
    );
    for (const [at, test] of tests.entries()) cards[at]?.update(test, this.run);
    const those = (ok: boolean) => cards.filter((_, at) => tests[at]?.ok === ok).map(({ root }) => root);
    setChildren(this.#failed, those(false));
    setChildren(this.#others, those(true));
    this.#failed.hidden = this.#failed.childElementCount === 0;
    this.#details.hidden = this.#others.childElementCount === 0;
    setText(this.#summary, othersText(tests.filter(({ ok }) => ok)));
  }
}

function othersText(tests: FinishedTest[]): string {
  const skipped = tests.filter(({ status }) => status === 'skipped').length;
  return `${tests.length - skipped} passed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

class Card {
  readonly root: HTMLLIElement;
  readonly #image = element('img', { loading: 'lazy', alt: '' });
  readonly #missing = element('p', { class: 'picture missing' }, 'No picture');
  readonly #enlarge = element('button', { type: 'button', class: 'picture' }, this.#image);
  readonly #title = element('h4');
  readonly #result = element('span', { class: 'state' });
  readonly #facts = element('p', { class: 'facts' });
  readonly #session = element('p', { class: 'session' });
  #test: FinishedTest | null = null;

  constructor(id: string, onEnlarge: () => void) {
    this.#enlarge.addEventListener('click', onEnlarge);
    const text = element('div', { class: 'text' }, this.#title, this.#facts, this.#session);
    this.root = element('li', { class: 'card', 'data-test': id }, this.#enlarge, this.#missing, text);
  }

  update(test: FinishedTest, run: string): void {
    if (this.#test === test) return;
    this.#test = test;
    const result = resultOf(test);
    this.root.dataset.result = test.ok ? (test.status === 'skipped' ? 'skipped' : 'passed') : 'failed';
    setLine(this.#title, test.title);
    setText(this.#result, result);
    this.#facts.replaceChildren(this.#result, testFacts(test).slice(result.length));
    setText(this.#session, test.sessionId === null ? '' : `session ${test.sessionId}`);
    this.#enlarge.setAttribute('aria-label', `Enlarge the last picture of ${test.title}`);
    this.#enlarge.hidden = !test.hasPicture;
    this.#missing.hidden = test.hasPicture;
    const address = pictureAddress(run, test.id);
    if (test.hasPicture && this.#image.getAttribute('src') !== address) this.#image.src = address;
  }
}
