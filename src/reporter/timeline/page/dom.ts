type Child = Node | string | null;
/** Lists may be as long as a run has tests: as arguments they would overflow the stack. */
type Children = Child | readonly Child[];

/** An element with these properties and children; `class` and `aria-…` as attributes. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string | null> = {},
  ...children: Children[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
  for (const child of children.flat()) if (child !== null) made.append(child);
  return made;
}

/** Terms and their descriptions; those without one are left out. */
export function descriptions(rows: [term: string, value: string | null][], className: string): HTMLDListElement {
  const list = element('dl', { class: className });
  for (const [term, value] of rows) {
    if (value === null) continue;
    list.append(element('div', {}, element('dt', {}, term), element('dd', {}, value)));
  }
  return list;
}
