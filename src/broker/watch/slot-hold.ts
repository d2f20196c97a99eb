import type { HoldParams, SlotInput } from './calls.ts';
import type { HoldView } from './view.ts';

/** A test that waits until a watcher releases it. */
export class SlotHold {
  readonly view: HoldView;
  /** Resolves when it is over. */
  readonly over: Promise<void>;
  #inputs: SlotInput[] = [];
  #isOver = false;
  #onInput: () => void = () => undefined;
  #end: () => void = () => undefined;

  constructor({ reason, until }: HoldParams) {
    this.view = { reason, until };
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  end(): void {
    this.#isOver = true;
    this.#end();
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
