/** Any node of the tree. */
export interface Node {
  type: string;
  start?: number | null;
  end?: number | null;
}

/** Calls `visit` with a node and all below it, in the order of the source; `false` leaves out what is below. */
export function walk(node: Node, visit: (node: Node) => unknown): void {
  if (visit(node) === false) return;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, visit);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
