import type { Log } from './log.ts';

/** Tells the terminal what several workers find, once a run. */
export class SaidOnce {
  readonly #log: Log;
  readonly #said = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  say(text: string): void {
    if (this.#said.has(text)) return;
    this.#said.add(text);
    this.#log.notice(text);
  }
}
