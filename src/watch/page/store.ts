import type { FinishedTest, RunView, SlotView } from '../../broker/watch/view.ts';
import type { ViewMessage } from '../messages.ts';

/** The state of a run in the page. */
export interface Run extends Omit<RunView, 'finished'> {
  /** By ID. Another map after each change. */
  finished: Map<string, FinishedTest>;
}

/** The runs, as the server described them last. */
export class Store {
  /** Newest first. */
  runs: Run[] = [];
  /** The server's clock, compared with this one, in ms. */
  #offset = 0;

  /** The server's time, in ms since the epoch. */
  now(): number {
    return Date.now() + this.#offset;
  }

  /** @param isFirst the first message of a connection contains everything */
  update({ now, order, changed }: ViewMessage, isFirst: boolean): void {
    this.#offset = now - Date.now();
    const known = new Map(isFirst ? [] : this.runs.map((run) => [run.id, run]));
    for (const { finished, dropped, ...view } of changed) {
      const tests = known.get(view.id)?.finished ?? new Map<string, FinishedTest>();
      const isSame = finished.length === 0 && dropped.length === 0;
      known.set(view.id, { ...view, finished: isSame ? tests : changedTests(tests, finished, dropped) });
    }
    this.runs = order.flatMap((id) => known.get(id) ?? []);
  }

  run(id: string): Run | undefined {
    return this.runs.find((run) => run.id === id);
  }

  slot(run: string, number: number): SlotView | undefined {
    return this.run(run)?.slots.find(({ slot }) => slot === number);
  }
}

function changedTests(
  tests: ReadonlyMap<string, FinishedTest>,
  finished: readonly FinishedTest[],
  dropped: readonly string[],
): Map<string, FinishedTest> {
  const changed = new Map(tests);
  for (const id of dropped) changed.delete(id);
  for (const test of finished) changed.set(test.id, test);
  return changed;
}
