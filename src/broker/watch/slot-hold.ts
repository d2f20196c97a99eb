import { deferred } from '../../common/deferred.ts';
import type { HoldParams, SlotInput } from './calls.ts';
import type { HoldView } from './view.ts';

/** A test that waits until a watcher releases it. */
export class SlotHold {
  readonly view: HoldView;
  readonly #end = deferred();
  /** Resolves when it is over. */
  readonly over = this.#end.promise;
  #inputs: SlotInput[] = [];
  #isOver = false;
  #onInput: () => void = () => undefined;

  constructor({ reason, until }: HoldParams) {
    this.view = { reason, until };
  }

  end(): void {
    this.#isOver = true;
    this.#end.resolve();
    this.#onInput();
  }

  add(input: SlotInput): void {
    this.#inputs.push(input);
    this.#onInput();
  }

  /** Returns what watchers did since the last call, as soon as they do something; null when the hold is over. */
  async takeInputs(): Promise<SlotInput[] | null> {
    if (this.#inputs.length === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#onInput = resolve;
      });
    }
    return this.#isOver ? null : this.#inputs.splice(0);
  }
}
