/** What one side measured in one round, by the name of the figure. */
export type Figures = Record<string, number>;

/** What was measured: for each side and figure one value a round, in the order of the rounds. */
export class Samples {
  readonly #bySide = new Map<string, Map<string, number[]>>();

  get sides(): string[] {
    return [...this.#bySide.keys()];
  }

  has(side: string): boolean {
    return this.#bySide.has(side);
  }

  add(side: string, figures: Figures): void {
    const of = this.#bySide.get(side) ?? new Map<string, number[]>();
    this.#bySide.set(side, of);
    for (const [figure, value] of Object.entries(figures)) of.set(figure, [...(of.get(figure) ?? []), value]);
  }

  /** None where that was not measured. */
  values(side: string, figure: string): number[] {
    return this.#bySide.get(side)?.get(figure) ?? [];
  }

  toJSON(): Record<string, Record<string, number[]>> {
    return Object.fromEntries([...this.#bySide].map(([side, of]) => [side, Object.fromEntries(of)]));
  }
}
