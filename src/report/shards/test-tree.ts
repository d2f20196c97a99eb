/** One value for each test of a suite: by project, file and title. Sorted, so that equal content is equal text. */
export type TestTree<T> = Record<string, Record<string, Record<string, T>>>;

export interface TestKey {
  /** ID of its project: its name, and a number where several have the same one. */
  project: string;
  /** Relative to the directory of the config, with `/`. */
  file: string;
  /** `describe › test`. */
  title: string;
}

/** Reads and writes one value for each test. */
export class ByTest<T> {
  readonly #projects = new Map<string, Map<string, Map<string, T>>>();

  static of<T>(tree: TestTree<T>): ByTest<T> {
    const all = new ByTest<T>();
    for (const [project, files] of Object.entries(tree))
      for (const [file, titles] of Object.entries(files))
        for (const [title, value] of Object.entries(titles)) all.set({ project, file, title }, value);
    return all;
  }

  get({ project, file, title }: TestKey): T | undefined {
    return this.#projects.get(project)?.get(file)?.get(title);
  }

  set({ project, file, title }: TestKey, value: T): void {
    const files = inserted(this.#projects, project, () => new Map<string, Map<string, T>>());
    inserted(files, file, () => new Map<string, T>()).set(title, value);
  }

  *entries(): Generator<[TestKey, T]> {
    for (const [project, files] of this.#projects)
      for (const [file, titles] of files) for (const [title, value] of titles) yield [{ project, file, title }, value];
  }

  /** Sorted by code units, the same on every machine. */
  get tree(): TestTree<T> {
    return sorted(this.#projects, (files) => sorted(files, (titles) => sorted(titles, (value) => value)));
  }
}

/** As Playwright prints it: `[chromium] › tests/a.spec.ts › describe › test`. */
export function shownTest({ project, file, title }: TestKey): string {
  return [...(project === '' ? [] : [`[${project}]`]), file, title].join(' › ');
}

/** By code units. */
export function compareTexts(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

export function inserted<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function sorted<V, W>(map: ReadonlyMap<string, V>, each: (value: V) => W): Record<string, W> {
  const entries = [...map].sort(([one], [other]) => compareTexts(one, other));
  return Object.fromEntries(entries.map(([key, value]) => [key, each(value)]));
}
