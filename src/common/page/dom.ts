type Child = Node | string | null;
/** An array instead of arguments, because one argument per test could overflow the stack. */
type Children = Child | readonly Child[];

/** Creates an element with these attributes and children. */
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

/** A list of terms and descriptions. Terms without a description are left out. */
export function descriptions(rows: [term: string, value: string | null][], className: string): HTMLDListElement {
  const list = element('dl', { class: className });
  for (const [term, value] of rows) {
    if (value === null) continue;
    list.append(element('div', {}, element('dt', {}, term), element('dd', {}, value)));
  }
  return list;
}
