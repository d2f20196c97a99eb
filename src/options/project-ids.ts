/**
 * An ID for each project of a config: its name, and where several have the same one (Playwright allows that), its name
 * and a number. The same in every process that loads the config.
 */
export function projectIds(names: readonly string[]): string[] {
  const taken = new Set(names);
  const seen = new Set<string>();
  return names.map((name) => {
    if (!seen.has(name)) {
      seen.add(name);
      return name;
    }
    let number = 2;
    while (taken.has(`${name} (${number})`)) number += 1;
    const id = `${name} (${number})`;
    taken.add(id);
    return id;
  });
}
