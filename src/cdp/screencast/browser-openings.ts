import type { CdpMessage } from '../message.ts';

/** Which of the client's commands are about to open a session on the browser. */
export class BrowserOpenings {
  /** IDs of the commands without a response yet. */
  readonly #open = new Set<number>();
  #whenIdle: (() => void)[] = [];

  observeCommand({ id, method }: CdpMessage): void {
    if (method === 'Target.attachToBrowserTarget' && id !== undefined) this.#open.add(id);
  }

  observe({ id }: CdpMessage): void {
    if (id === undefined || !this.#open.delete(id) || this.#open.size > 0) return;
    for (const resume of this.#whenIdle.splice(0)) resume();
  }

  /** Resolves when there are none. */
  async over(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }
}
