/** Changes elements in place, so that focus, selection and scroll position stay. */

export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets a text that may be cut off: the whole one is its tooltip. @param shown default: the whole text */
export function setLine(element: HTMLElement, text: string, shown = text): void {
  setText(element, shown);
  if (element.title !== text) element.title = text;
}

/** Moves, adds and removes as few children as possible. */
export function setChildren(parent: Element, children: readonly Element[]): void {
  const wanted = new Set<Element>(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  let at = parent.firstElementChild;
  for (const child of children) {
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
  }
}

/** Parts of the page by key. Parts whose key is missing are forgotten. */
export class Parts<Key, Part> {
  readonly #parts = new Map<Key, Part>();

  /** @param make for new keys */
  sync(keys: readonly Key[], make: (key: Key) => Part): Part[] {
    const wanted = new Set(keys);
    for (const key of this.#parts.keys()) if (!wanted.has(key)) this.#parts.delete(key);
    return keys.map((key) => {
      const part = this.#parts.get(key) ?? make(key);
      this.#parts.set(key, part);
      return part;
    });
  }

  get(key: Key): Part | undefined {
    return this.#parts.get(key);
  }
}
