import type { FinishedTest, RunView } from '../../broker/rpc/view.ts';
import type { ChangedRun, ViewMessage } from '../messages.ts';

/** What one page has been sent of the runs: it gets only what changed, because a run lists up to 1,000 tests. */
export class ViewChanges {
  #order = '';
  readonly #sent = new Map<string, { view: RunView; finished: Map<string, FinishedTest> }>();

  /** The message for this state; null if nothing changed. */
  next(runs: readonly RunView[], now: number): ViewMessage | null {
    const order = runs.map(({ id }) => id);
    const changed = runs.flatMap((view) => this.#change(view) ?? []);
    for (const id of this.#sent.keys()) if (!order.includes(id)) this.#sent.delete(id);
    const key = JSON.stringify(order);
    if (changed.length === 0 && key === this.#order) return null;
    this.#order = key;
    return { type: 'view', now, order, changed };
  }

  #change(view: RunView): ChangedRun | null {
    const { view: last, finished: known } = this.#sent.get(view.id) ?? { finished: new Map<string, FinishedTest>() };
    if (last === view) return null;
    const finished = new Map(view.finished.map((test) => [test.id, test]));
    this.#sent.set(view.id, { view, finished });
    return {
      ...view,
      finished: view.finished.filter((test) => test !== known.get(test.id)),
      dropped: [...known.keys()].filter((id) => !finished.has(id)),
    };
  }
}
