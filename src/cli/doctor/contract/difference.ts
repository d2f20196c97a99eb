/**
 * One difference between the client and the service. `breaks`: calls fail or responses cannot be read; `differs`:
 * some may; `ours`: the service does not know it; `theirs`: we do not.
 */
export interface Difference {
  kind: 'breaks' | 'differs' | 'ours' | 'theirs';
  endpoint: string;
  says: string;
}

/** Takes a difference of the endpoint that is being compared. */
export type Say = (kind: Difference['kind'], says: string) => void;

/** The path of a field below `at`. */
export function field(at: string, name: string): string {
  return `${at}.${name}`;
}

export function list(values: readonly unknown[]): string {
  return values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(', ');
}
